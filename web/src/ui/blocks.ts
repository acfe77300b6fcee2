// Cuts Markdown where a new block surely begins, so that only the last one is parsed again while text streams in.
const LIST = /^(?:[-*+]|\d{1,9}[.)])\s/;

export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let current: string[] = [];
  let fence: string | undefined;
  let inList = false;
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && !fence) fence = mark;
    else if (mark && fence && mark[0] === fence[0] && mark.length >= fence.length) fence = undefined;
    current.push(line);
    if (LIST.test(line)) inList = true;
    const next = lines[index + 1];
    if (fence || line.trim() !== "" || next === undefined || next.trim() === "" || /^\s/.test(next)) continue;
    if (inList && LIST.test(next)) continue;
    blocks.push(current.join("\n"));
    current = [];
    inList = false;
  }
  blocks.push(current.join("\n"));
  return blocks;
}

/** Parts of a text that is too long, or has lines too long, to be laid out at once. */
export const MARKDOWN_CHARS_MAX = 60_000;
export const LINE_CHARS_MAX = 10_000;
export const PLAIN_CHARS_STEP = 20_000;

export function isTooMuch(text: string): boolean {
  if (text.length > MARKDOWN_CHARS_MAX) return true;
  let start = 0;
  for (let end = text.indexOf("\n"); ; end = text.indexOf("\n", start)) {
    if ((end < 0 ? text.length : end) - start > LINE_CHARS_MAX) return true;
    if (end < 0) return false;
    start = end + 1;
  }
}
