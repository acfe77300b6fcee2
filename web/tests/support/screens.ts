// Every screen with an address, filled by the story; the empty ones are the same places for a newcomer.
import type { Locator, Page } from "@playwright/test";
import type { Story } from "./story";

export interface Screen {
  name: string;
  /** Where a newcomer sees it; undefined where there is nothing to be empty. */
  empty?: string;
  filled: (story: Story) => string;
  /** Something of the story that stands there once it is filled. */
  shows?: (page: Page, story: Story) => Locator;
  /** Asks the server for nothing, so it neither loads nor fails. */
  asksNothing?: boolean;
}

const pane = (name: string) => (story: Story) =>
  `/c/${story.survey}?pane=${name}&of=${story.answers[0]?.id ?? ""}`;

export const screens: Screen[] = [
  { name: "home", empty: "/", filled: () => "/" },
  {
    name: "conversations",
    empty: "/conversations",
    filled: () => "/conversations",
  },
  { name: "conversation", filled: ({ survey }) => `/c/${survey}` },
  { name: "folded", filled: ({ folded }) => `/c/${folded}` },
  {
    name: "turn",
    filled: ({ survey, stale }) => `/c/${survey}/n/${stale.localId}`,
  },
  { name: "map", filled: ({ survey }) => `/c/${survey}/map` },
  {
    name: "compare",
    empty: "/compare",
    filled: ({ answers }) =>
      `/compare?nodes=${answers
        .slice(0, 2)
        .map(({ id }) => id)
        .join(",")}`,
  },
  { name: "search", empty: "/search", filled: () => "/search?q=herons" },
  { name: "node", filled: pane("node") },
  { name: "context", filled: pane("context") },
  { name: "provenance", filled: pane("provenance") },
  {
    name: "diff",
    filled: ({ survey, edited }) => `/c/${survey}?pane=diff&of=${edited.id}`,
  },
  ...["services", "tools", "secrets", "service-templates", "tool-templates"].map((kind): Screen => ({
    name: `catalogue-${kind}`,
    empty: `/catalogue/${kind}`,
    filled: () => `/catalogue/${kind}`,
  })),
  { name: "tool", filled: ({ tool }) => `/catalogue/tools/${tool}` },
  {
    name: "service",
    filled: ({ service }) => `/catalogue/services/${service}`,
  },
  { name: "processes", empty: "/processes", filled: () => "/processes" },
  { name: "process", filled: ({ process }) => `/processes/${process}` },
  { name: "runs", empty: "/runs", filled: () => "/runs" },
  { name: "run-failed", filled: ({ failed }) => `/runs/${failed}` },
  { name: "run-waiting", filled: ({ waiting }) => `/runs/${waiting}` },
  { name: "reviews", empty: "/review", filled: () => "/review" },
  { name: "review", filled: ({ review }) => `/review/${review}` },
  ...["account", "keys", "users", "admin", "appearance", "bindings"].map((section): Screen => ({
    name: `settings-${section}`,
    filled: () => `/settings/${section}`,
  })),
  { name: "components", filled: () => "/dev/components", asksNothing: true },
];
