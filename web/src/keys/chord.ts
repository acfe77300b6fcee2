// A chord is one press: `Mod+Shift+f`, `[`, `ArrowUp`.
const isApple = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.platform);

/** What a press is called. Shift is named with letters and named keys; `?` needs no mention of it. */
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

/** Whether somebody is writing there. */
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

/** Whether the chord is typed without Ctrl, ⌘ or Alt, and so must leave writing alone. */
export const isPlain = (chord: string): boolean => !/^(Mod|Ctrl|Alt)\+/.test(chord);

/** Whether it is one letter, sign or blank, with Shift or without: what people who speak to their computer switch off. */
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
