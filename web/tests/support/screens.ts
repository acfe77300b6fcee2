// Every screen with an address, filled by the story; the empty ones are the same places for a newcomer.
import type { Locator, Page } from "@playwright/test";
import type { Story } from "./story";

export interface Screen {
  name: string;
  /** Address of the empty screen for a new user; undefined if it is never empty. */
  empty?: string;
  filled: (story: Story) => string;
  /** Something of the story that stands there once it is filled. */
  shows?: (page: Page, story: Story) => Locator;
  /** Asks the server for nothing, so it neither loads nor fails. */
  asksNothing?: boolean;
}

/** Visible text of the screen, wherever it stands on it. */
const text = (words: string | RegExp) => (page: Page) =>
  page.getByRole("main").or(page.getByRole("complementary")).getByText(words).filter({ visible: true });
const turn = (words: string) => (page: Page) => page.getByRole("article").filter({ hasText: words });
const pane = (name: string) => (story: Story) =>
  `/c/${story.survey}?pane=${name}&of=${story.answers[0]?.id ?? ""}`;

export const screens: Screen[] = [
  { name: "home", shows: text("Lake survey"), empty: "/", filled: () => "/" },
  {
    name: "conversations",
    shows: text("Lake survey"),
    empty: "/conversations",
    filled: () => "/conversations",
  },
  { name: "conversation", shows: turn("When was the hide"), filled: ({ survey }) => `/c/${survey}` },
  { name: "folded", shows: text("Nothing in the notes says"), filled: ({ folded }) => `/c/${folded}` },
  {
    name: "turn",
    shows: turn("How high did the water"),
    filled: ({ survey, stale }) => `/c/${survey}/n/${stale.localId}`,
  },
  { name: "map", filled: ({ survey }) => `/c/${survey}/map` },
  {
    name: "compare",
    shows: text("herons"),
    empty: "/compare",
    filled: ({ answers }) =>
      `/compare?nodes=${answers
        .slice(0, 2)
        .map(({ id }) => id)
        .join(",")}`,
  },
  { name: "search", shows: text("herons"), empty: "/search", filled: () => "/search?q=herons" },
  { name: "node", filled: pane("node") },
  { name: "context", shows: text(/tokens/), filled: pane("context") },
  { name: "provenance", shows: text(/verify/i), filled: pane("provenance") },
  {
    name: "diff",
    shows: text(/10 March/),
    filled: ({ survey, edited }) => `/c/${survey}?pane=diff&of=${edited.id}`,
  },
  ...["services", "tools", "secrets", "service-templates", "tool-templates"].map((kind): Screen => ({
    name: `catalog-${kind}`,
    empty: `/catalog/${kind}`,
    filled: () => `/catalog/${kind}`,
  })),
  { name: "tool", shows: text("Water level"), filled: ({ tool }) => `/catalog/tools/${tool}` },
  {
    name: "service",
    shows: text("Gauge at the inlet"),
    filled: ({ service }) => `/catalog/services/${service}`,
  },
  { name: "processes", shows: text("Report of a day"), empty: "/processes", filled: () => "/processes" },
  { name: "process", shows: text("weather"), filled: ({ process }) => `/processes/${process}` },
  { name: "runs", shows: text("Level of a day"), empty: "/runs", filled: () => "/runs" },
  { name: "failed-jobs", empty: "/runs/failed-jobs", filled: () => "/runs/failed-jobs" },
  { name: "run-failed", shows: text("Level of a day"), filled: ({ failed }) => `/runs/${failed}` },
  { name: "run-waiting", shows: text("Report of a day"), filled: ({ waiting }) => `/runs/${waiting}` },
  { name: "reviews", shows: text("Report of a day"), empty: "/review", filled: () => "/review" },
  { name: "standing", shows: text(/requires approval asks you/), filled: () => "/review?standing=1" },
  { name: "review", shows: text("eleven herons"), filled: ({ review }) => `/review/${review}` },
  ...[
    "account",
    "access",
    "keeping",
    "appearance",
    "keys",
    "presets",
    "users",
    "addresses",
    "vault",
    "installation",
  ].map((section): Screen => ({
    name: `settings-${section}`,
    filled: () => `/settings/${section}`,
    asksNothing: section === "appearance" || section === "keys",
  })),
  { name: "connect", empty: "/catalog/connect", filled: () => "/catalog/connect" },
  { name: "new-tool", filled: () => "/catalog/tools/new" },
  { name: "new-process", filled: () => "/processes/new" },
  { name: "components", filled: () => "/dev/components", asksNothing: true },
];
