// Holds the actions that can run now: screens register them while shown; keys and the palette run them.
import { onDestroy } from "svelte";
import { settings } from "../state/settings.svelte";
import { bindings, type Binding } from "./bindings";
import { chordOf, isEditable, isPlain, isSingle, shownChord } from "./chord";

export type Handler = (event?: KeyboardEvent) => void | boolean | Promise<void>;
export interface Action {
  id: string;
  what: string;
  run: Handler;
}

interface Layer {
  handlers: Record<string, Handler>;
  /** Keys count only while this holds the focus; without it, on the whole screen. */
  within?: () => HTMLElement | undefined;
}

const byId = new Map(bindings.map((binding) => [binding.id, binding]));

class Registry {
  // Not state itself: what tears a component down reads state as it was before, and would take out what came since.
  #layers: Layer[] = [];
  #revision = $state.raw({});

  /** Puts actions in: `{ "conversation.edit": () => … }`. A handler that returns false lets the key pass on. */
  add(layer: Layer): () => void {
    this.#layers = [...this.#layers, layer];
    this.#revision = {};
    return () => {
      this.#layers = this.#layers.filter((other) => other !== layer);
      this.#revision = {};
    };
  }

  /** Actions that can run now, newest layer first. */
  get actions(): Action[] {
    void this.#revision;
    const seen = new Set<string>();
    const found: Action[] = [];
    for (const { handlers } of [...this.#layers].reverse()) {
      for (const [id, run] of Object.entries(handlers)) {
        const binding = byId.get(id);
        if (!binding || seen.has(id)) continue;
        seen.add(id);
        found.push({ id, what: binding.what, run });
      }
    }
    return found;
  }

  get palette(): Action[] {
    return this.actions.filter(({ id }) => !byId.get(id)?.keyOnly);
  }

  run(id: string): void {
    void this.actions.find((action) => action.id === id)?.run();
  }

  press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const chord = chordOf(event);
    if (isPlain(chord) && (isEditable(event.target) || this.#isLeftToTheElement(event, chord))) return;
    for (const { handlers, within } of [...this.#layers].reverse()) {
      const region = within?.();
      if (within && !(region && event.target instanceof Node && region.contains(event.target))) continue;
      for (const [id, run] of Object.entries(handlers)) {
        const binding = byId.get(id);
        if (!binding || !actingKeysOf(binding).includes(chord)) continue;
        if (run(event) === false) continue;
        event.preventDefault();
        return;
      }
    }
  }

  /** Enter and Space on a button press it, Enter follows a link; a row of a list leaves Space to its screen. Arrows in menus, tabs and trees move there. */
  #isLeftToTheElement(event: KeyboardEvent, chord: string): boolean {
    const at = event.target;
    if (!(at instanceof Element)) return false;
    if (at.closest("dialog[open], [popover]:popover-open")) return true;
    if (chord === "Enter" && at.closest("a[href]")) return true;
    if (chord === "Enter" || chord === "Space")
      return at.closest("button, summary, input, [role=option], a[href]:not([data-row])") !== null;
    return (
      chord.startsWith("Arrow") &&
      at.closest("[role=tablist], [role=menu], [role=tree], [role=radiogroup], [role=separator], input") !==
        null
    );
  }
}

/** As they are bound, whether they act now or not. */
export const keysOf = (binding: Binding): string[] => settings.keys[binding.id] ?? binding.keys;
/** Keys that act now: single letters may be switched off. */
export const actingKeysOf = (binding: Binding): string[] =>
  keysOf(binding).filter((chord) => settings.singleKeys || !isSingle(chord));
/** The key of an action as people are shown it; nothing where none acts. */
export function shownKeyOf(id: string): string | undefined {
  const binding = byId.get(id);
  const [key] = binding ? actingKeysOf(binding) : [];
  return key && shownChord(key);
}
export const registry = new Registry();

/** For a component: its actions, as long as it is there. */
export function useActions(handlers: Record<string, Handler>, within?: () => HTMLElement | undefined): void {
  onDestroy(registry.add({ handlers, within }));
}
