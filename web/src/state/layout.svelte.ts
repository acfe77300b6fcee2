// Layout of a conversation's panes when it was last open in this browser.
import { SvelteMap } from "svelte/reactivity";
import { writeStored, readStored } from "./browserStorage";

export interface Layout {
  /** Pane that the inspector showed, while it was open. */
  pane?: string;
  /** The branch that stood beside the path. */
  beside?: string;
  inspectorWidth?: number;
  besideWidth?: number;
}
const placeOf = (conversation: string): string => `layout/${conversation}`;

class Layouts {
  #known = new SvelteMap<string, Layout>();

  of(conversation: string | undefined): Layout {
    if (conversation === undefined) return {};
    return this.#known.get(conversation) ?? readStored<Layout>(placeOf(conversation), {});
  }
  keep(conversation: string, changes: Layout): void {
    const layout = { ...this.of(conversation), ...changes };
    this.#known.set(conversation, layout);
    const isPlain = Object.values(layout).every((value) => value === undefined);
    writeStored(placeOf(conversation), isPlain ? undefined : layout);
  }
}
export const layouts = new Layouts();
