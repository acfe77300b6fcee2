// The right pane: which one, and of what, stands in the address (`?pane=context&of=item_…`).
import type { Component } from "svelte";
import { router } from "../router.svelte";

export type Pane = "node" | "context" | "provenance" | "diff";
export const panes: {
  id: Pane;
  label: string;
  load: () => Promise<{ default: Component<{ node: string }> }>;
}[] = [
  { id: "node", label: "Node", load: () => import("../screens/inspector/Node.svelte") },
  { id: "context", label: "Context", load: () => import("../screens/inspector/Context.svelte") },
  { id: "provenance", label: "Provenance", load: () => import("../screens/inspector/Provenance.svelte") },
  { id: "diff", label: "Diff", load: () => import("../screens/inspector/Diff.svelte") },
];

class Inspector {
  /** The node that has the focus on the screen: what the inspector is about unless the address names another. */
  focused = $state<string>();

  get pane(): Pane | undefined {
    const asked = router.query("pane");
    return panes.find(({ id }) => id === asked)?.id;
  }
  get node(): string | undefined {
    return router.query("of") ?? this.focused;
  }
  show(pane: Pane, node?: string): void {
    router.setQuery({ pane, of: node });
  }
  close(): void {
    router.setQuery({ pane: undefined, of: undefined });
  }
  toggle(): void {
    if (this.pane) this.close();
    else this.show("node");
  }
}
export const inspector = new Inspector();
