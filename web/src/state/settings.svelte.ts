// How this browser likes it: appearance, keys, announcements. It stays in the browser.
import { keep, kept } from "./kept";

export type Theme = "system" | "light" | "dark";
export type Announce = "whole" | "sentences" | "off";
interface Kept {
  theme: Theme;
  size: "normal" | "large";
  singleKeys: boolean;
  announce: Announce;
  keys: Record<string, string[]>;
  inspectorWidth: number;
  railNarrow: boolean;
}
const FIRST: Kept = {
  theme: "system",
  size: "normal",
  singleKeys: true,
  announce: "whole",
  keys: {},
  inspectorWidth: 360,
  railNarrow: false,
};

class Settings {
  #kept = $state<Kept>({ ...FIRST, ...kept<Partial<Kept>>("settings", {}) });

  get theme() {
    return this.#kept.theme;
  }
  set theme(theme: Theme) {
    this.#change({ theme });
  }
  get size() {
    return this.#kept.size;
  }
  set size(size: Kept["size"]) {
    this.#change({ size });
  }
  /** Whether single letters act as keys; people who speak to their computer may not want it. */
  get singleKeys() {
    return this.#kept.singleKeys;
  }
  set singleKeys(singleKeys: boolean) {
    this.#change({ singleKeys });
  }
  get announce() {
    return this.#kept.announce;
  }
  set announce(announce: Announce) {
    this.#change({ announce });
  }
  /** Other keys than the table's, by binding. */
  get keys(): Readonly<Record<string, string[]>> {
    return this.#kept.keys;
  }
  bind(id: string, keys: string[] | undefined): void {
    const changed = { ...this.#kept.keys };
    if (keys) changed[id] = keys;
    else delete changed[id];
    this.#change({ keys: changed });
  }
  get inspectorWidth() {
    return this.#kept.inspectorWidth;
  }
  set inspectorWidth(inspectorWidth: number) {
    this.#change({ inspectorWidth });
  }
  get railNarrow() {
    return this.#kept.railNarrow;
  }
  set railNarrow(railNarrow: boolean) {
    this.#change({ railNarrow });
  }

  /** Puts the look on the document; other tabs follow. */
  apply(): void {
    const root = document.documentElement;
    if (this.theme === "system") delete root.dataset.theme;
    else root.dataset.theme = this.theme;
    root.dataset.size = this.size;
  }

  start(): () => void {
    this.apply();
    const follow = (event: StorageEvent) => {
      if (event.key !== "skein.settings") return;
      this.#kept = { ...FIRST, ...kept<Partial<Kept>>("settings", {}) };
      this.apply();
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }

  #change(changes: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...changes };
    keep("settings", this.#kept);
    this.apply();
  }
}

export const settings = new Settings();
