// Settings of this browser: appearance, keys, announcements. They stay in the browser.
import { writeStored, readStored } from "./browserStorage";
import type { Preset, Presets } from "./presets";

export type Theme = "system" | "light" | "dark";
export type Announce = "whole" | "sentences" | "off";
export type Size = "small" | "normal" | "large" | "largest";
export type Density = "dense" | "roomy";
export type Motion = "system" | "reduced";
interface StoredSettings {
  theme: Theme;
  size: Size;
  density: Density;
  motion: Motion;
  singleKeys: boolean;
  announce: Announce;
  keys: Record<string, string[]>;
  presets: Presets;
  inspectorWidth: number;
  railNarrow: boolean;
}
const FIRST: StoredSettings = {
  theme: "system",
  size: "normal",
  density: "dense",
  motion: "system",
  singleKeys: true,
  announce: "whole",
  keys: {},
  presets: {},
  inspectorWidth: 360,
  railNarrow: false,
};

class Settings {
  #kept = $state<StoredSettings>({ ...FIRST, ...readStored<Partial<StoredSettings>>("settings", {}) });

  get theme() {
    return this.#kept.theme;
  }
  set theme(theme: Theme) {
    this.#change({ theme });
  }
  get size() {
    return this.#kept.size;
  }
  set size(size: Size) {
    this.#change({ size });
  }
  get density() {
    return this.#kept.density;
  }
  set density(density: Density) {
    this.#change({ density });
  }
  get motion() {
    return this.#kept.motion;
  }
  set motion(motion: Motion) {
    this.#change({ motion });
  }
  /** True if single letters act as keys; users of speech input may not want it. */
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
  /** Every key as the table has it. */
  unbind(): void {
    this.#change({ keys: {} });
  }
  /** Chosen processes by number, where they differ from the list. */
  get presets(): Presets {
    return this.#kept.presets;
  }
  preset(preset: Preset, process: string | undefined): void {
    const { [preset]: _, ...others } = this.#kept.presets;
    this.#change({ presets: process ? { ...others, [preset]: process } : others });
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
    root.dataset.density = this.density;
    root.dataset.motion = this.motion;
  }

  start(): () => void {
    this.apply();
    const follow = (event: StorageEvent) => {
      if (event.key !== "skein.settings") return;
      this.#kept = { ...FIRST, ...readStored<Partial<StoredSettings>>("settings", {}) };
      this.apply();
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }

  #change(changes: Partial<StoredSettings>): void {
    this.#kept = { ...this.#kept, ...changes };
    writeStored("settings", this.#kept);
    this.apply();
  }
}

export const settings = new Settings();
