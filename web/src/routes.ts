// Every screen: its address, its name, and how its code is fetched when it is first opened.
import type { Component } from "svelte";
import type { IconName } from "./ui/icons";

export interface Route {
  /** `/c/:conversation`: parts with a colon are handed to the screen as properties. */
  path: string;
  name: string;
  /** Entry of the rail that the route belongs to. */
  section: Section;
  load: () => Promise<{ default: Component<Record<string, string>> }>;
}

export type Section =
  | "home"
  | "conversations"
  | "search"
  | "compare"
  | "runs"
  | "review"
  | "processes"
  | "catalog"
  | "settings"
  | "none";

type Screen = Promise<{ default: Component<never> }>;
const screen = (path: string, name: string, section: Section, load: () => Screen): Route => ({
  path,
  name,
  section,
  load: load as unknown as Route["load"],
});

const conversation = () => import("./screens/conversation/ConversationScreen.svelte");
const catalog = () => import("./screens/catalog/Catalog.svelte");
const processes = () => import("./screens/processes/Processes.svelte");
const runs = () => import("./screens/runs/Runs.svelte");
const review = () => import("./screens/review/Review.svelte");
const settings = () => import("./screens/settings/Settings.svelte");

export const routes: Route[] = [
  screen("/", "Home", "home", () => import("./screens/home/Home.svelte")),
  screen(
    "/conversations",
    "Conversations",
    "conversations",
    () => import("./screens/home/Conversations.svelte"),
  ),
  screen("/c/:conversation", "Conversation", "conversations", conversation),
  screen("/c/:conversation/n/:node", "Conversation", "conversations", conversation),
  screen("/c/:conversation/map", "Map", "conversations", () => import("./screens/map/Map.svelte")),
  screen("/compare", "Compare", "compare", () => import("./screens/compare/Compare.svelte")),
  screen("/search", "Search", "search", () => import("./screens/search/Search.svelte")),
  screen("/catalog", "Catalog", "catalog", catalog),
  screen("/catalog/:kind", "Catalog", "catalog", catalog),
  screen("/catalog/:kind/:id", "Catalog", "catalog", catalog),
  screen("/processes", "Processes", "processes", processes),
  screen("/processes/:id", "Processes", "processes", processes),
  screen("/runs", "Runs", "runs", runs),
  screen("/runs/failed-jobs", "Failed jobs", "runs", () => import("./screens/runs/FailedJobs.svelte")),
  screen("/runs/:id", "Runs", "runs", runs),
  screen("/review", "Review", "review", review),
  screen("/review/:id", "Review", "review", review),
  screen("/settings", "Settings", "settings", settings),
  screen("/settings/:section", "Settings", "settings", settings),
  screen("/dev/components", "Components", "none", () => import("./screens/dev/Components.svelte")),
];

export interface RailEntry {
  section: Section;
  href: string;
  label: string;
  icon: IconName;
}
export const rail: RailEntry[] = [
  { section: "home", href: "/", label: "Home", icon: "home" },
  { section: "conversations", href: "/conversations", label: "Conversations", icon: "conversation" },
  { section: "search", href: "/search", label: "Search", icon: "search" },
  { section: "compare", href: "/compare", label: "Compare", icon: "compare" },
  { section: "runs", href: "/runs", label: "Runs", icon: "run" },
  { section: "review", href: "/review", label: "Review", icon: "review" },
  { section: "processes", href: "/processes", label: "Processes", icon: "process" },
  { section: "catalog", href: "/catalog", label: "Catalog", icon: "catalog" },
  { section: "settings", href: "/settings", label: "Settings", icon: "settings" },
];

/** Addresses of things, in one place. */
export const to = {
  conversation: (id: string) => `/c/${id}`,
  node: (conversation: string, node: string) => `/c/${conversation}/n/${node}`,
  map: (conversation: string, node?: string) => `/c/${conversation}/map${node ? `?at=${node}` : ""}`,
  compare: (nodes: readonly string[]) => `/compare?nodes=${nodes.join(",")}`,
  search: (text: string) => `/search?q=${encodeURIComponent(text)}`,
  /** An imported episode, shown in full. */
  importedEpisode: (episode: string) => `/search?episode=${episode}`,
  catalog: (kind: string, id?: string) => `/catalog/${kind}${id ? `/${id}` : ""}`,
  process: (id: string) => `/processes/${id}`,
  failedJobs: "/runs/failed-jobs",
  run: (id: string) => `/runs/${id}`,
  review: (id: string) => `/review/${id}`,
  settings: (section: string) => `/settings/${section}`,
};
