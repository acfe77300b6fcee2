// Words that fit: one line with an ellipsis, or a few lines. Measuring is dear, so results are kept.
type Measure = Pick<CanvasRenderingContext2D, "measureText" | "font">;
const KEPT_MAX = 4_000;
const kept = new Map<string, string[]>();

function once(key: string, make: () => string[]): string[] {
  const before = kept.get(key);
  if (before) return before;
  const made = make();
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(key, made);
  return made;
}

/** The text with what must follow it, shortened so that both fit. */
export function clipped(context: Measure, text: string, room: number, tail = ""): string {
  const width = Math.round(room);
  const [line = ""] = once(`1|${context.font}|${width}|${tail}|${text}`, () => {
    const left = width - (tail ? context.measureText(tail).width : 0);
    return [cut(context, text, left) + tail];
  });
  return line;
}

function cut(context: Measure, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low).trimEnd()}…`;
}

export function wrapped(context: Measure, text: string, room: number, lines: number): string[] {
  const width = Math.round(room);
  return once(`${lines}|${context.font}|${width}|${text}`, () => {
    const found: string[] = [];
    let line = "";
    const words = text.split(" ");
    for (const [index, word] of words.entries()) {
      const longer = line ? `${line} ${word}` : word;
      if (context.measureText(longer).width <= width) {
        line = longer;
        continue;
      }
      if (found.length === lines - 1) {
        found.push(cut(context, [line, ...words.slice(index)].filter(Boolean).join(" "), width));
        return found;
      }
      found.push(cut(context, line || word, width));
      line = line ? word : "";
    }
    if (line) found.push(cut(context, line, width));
    return found;
  });
}
