// A chord is one press: `Mod+Shift+f`, `[`, `ArrowUp`.
const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** Names a key press as a chord. Shift is named with letters and named keys; `?` needs no mention of it. */
export function chordOf(event: KeyboardEvent): string {
  const key = event.key === " " ? "Space" : event.key;
  const named = key.length > 1;
  const letter = key.length === 1 && key.toLowerCase() !== key.toUpperCase();
  const parts: string[] = [];
  if (isApple ? event.metaKey : event.ctrlKey) parts.push("Mod");
  if (isApple && event.ctrlKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey && (named || letter)) parts.push("Shift");
  parts.push(letter ? key.toLowerCase() : key);
  return parts.join("+");
}

/** True if the target accepts text input. */
export function isEditable(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return (
    target instanceof HTMLInputElement &&
    !["checkbox", "radio", "button", "submit", "range"].includes(target.type)
  );
}

/** True if the chord has no Ctrl, ⌘ or Alt, so it must not act while a person types. */
export const isPlain = (chord: string): boolean => !/^(Mod|Ctrl|Alt)\+/.test(chord);

/** True for one letter, sign or space, with or without Shift. Users of speech input switch these off. */
export const isSingle = (chord: string): boolean => /^(Shift\+)?(.|Space)$/u.test(chord);

const SHOWN: Record<string, string> = {
  Mod: isApple ? "⌘" : "Ctrl",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/** As it is written for people. */
export function shownChord(chord: string): string {
  const parts = chord === "+" ? ["+"] : chord.split("+");
  return parts.map((part) => SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(" ");
}
