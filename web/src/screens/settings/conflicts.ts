// Keys that two actions want, and keys that a screen takes from what works everywhere.
import type { Binding, Where } from "../../keys/bindings";

export interface Conflict {
  chord: string;
  with: Binding;
  /** Two of one place: only one of them can act. Else the screen's own comes first there. */
  isClash: boolean;
}

const meet = (one: Where, other: Where): "clash" | "shadow" | undefined => {
  if (one === other) return "clash";
  const wide = (where: Where) => where === "everywhere" || where === "list" || where === "inspector";
  return wide(one) || wide(other) ? "shadow" : undefined;
};

/** Other bindings with the same keys, given the current keys of each. */
export function conflictsOf(
  binding: Binding,
  bindings: readonly Binding[],
  keysOf: (binding: Binding) => string[],
): Conflict[] {
  const keys = new Set(keysOf(binding));
  return bindings.flatMap((other) => {
    if (other.id === binding.id) return [];
    const how = meet(binding.where, other.where);
    if (!how) return [];
    return keysOf(other)
      .filter((chord) => keys.has(chord))
      .map((chord) => ({ chord, with: other, isClash: how === "clash" }));
  });
}

/** Presses that the browser keeps for itself, or that are needed to get around. */
const KEPT =
  /^(Mod\+(Shift\+)?[wtnrlqf]|Mod\+Shift\+[it]|Tab|Shift\+Tab|Escape|F5|F11|F12|Mod\+F5|Alt\+(ArrowLeft|ArrowRight|F4))$/;
const KEPT_BUT = new Set(["Mod+Shift+f"]);
export const isKept = (chord: string): boolean => KEPT.test(chord) && !KEPT_BUT.has(chord);

/** Shift, Ctrl and the like alone are the beginning of a chord, not one. */
export const isModifier = (key: string): boolean =>
  ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"].includes(key);
