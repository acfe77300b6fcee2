// Colours for code, once it is on the screen: an ornament that comes when it comes, and stays away when it takes too long.
import DOMPurify from "dompurify";
import type { HighlightResult, HighlightRequest } from "./highlight.worker";

/** Longer code is read as it is. */
const CODE_CHARS_MAX = 20_000;
const PATIENCE_MS = 10_000;
const KEPT_MAX = 200;
const ONLY_SPANS = { ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] };

let worker: Worker | undefined;
let last = 0;
const waiting = new Map<number, (html: string | undefined) => void>();
const kept = new Map<string, string>();

function started(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data: { id, html } }: MessageEvent<HighlightResult>) => waiting.get(id)?.(html);
  worker.onerror = giveUp;
  return worker;
}
/** Whatever it is busy with, it is let go; the next code finds another one. */
function giveUp(): void {
  worker?.terminate();
  worker = undefined;
  for (const tell of [...waiting.values()]) tell(undefined);
}

function asked(code: string, language: string): Promise<string | undefined> {
  const id = ++last;
  return new Promise((resolve) => {
    const timer = setTimeout(giveUp, PATIENCE_MS);
    waiting.set(id, (html) => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(html);
    });
    started().postMessage({ id, code, language } satisfies HighlightRequest);
  });
}

async function coloured(code: string, language: string): Promise<string | undefined> {
  const name = `${language}\n${code}`;
  const before = kept.get(name);
  if (before !== undefined) return before;
  const html = await asked(code, language);
  if (html === undefined) return undefined;
  const clean = DOMPurify.sanitize(html, ONLY_SPANS);
  if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? "");
  kept.set(name, clean);
  return clean;
}

/** Colours the blocks of code that say what they are written in. */
export async function withColours(blocks: Iterable<HTMLElement>): Promise<void> {
  for (const block of blocks) {
    const language = /(?:^| )language-([\w+#-]+)/.exec(block.className)?.[1]?.toLowerCase();
    const code = block.textContent;
    if (!language || code.length > CODE_CHARS_MAX) continue;
    const html = await coloured(code, language);
    if (html === undefined || block.textContent !== code) continue;
    const spans = document.createRange().createContextualFragment(html);
    // Nothing but colours may differ.
    if (spans.textContent === code) block.replaceChildren(spans);
  }
}
