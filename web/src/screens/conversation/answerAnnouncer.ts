// Announces answers to screen readers: that one is running, and its text once it is there.
import type { Announce } from "../../state/settings.svelte";
import { Sentences } from "../../state/sentences";

/** Nobody listens for an hour; what is longer is read. */
const HEARD_MAX = 20_000;

export class AnswerAnnouncer {
  /** Length of each answer that was announced, and the position read so far. */
  #said = new Map<string, { upTo: number; sentences: Sentences }>();
  constructor(private readonly say: (words: string) => void) {}

  /** An answer as far as it is there. */
  goes(node: string, text: string, how: Announce): void {
    let said = this.#said.get(node);
    if (said === undefined) {
      said = { upTo: 0, sentences: new Sentences() };
      this.#said.set(node, said);
      this.say("Answering…");
    }
    if (how !== "sentences") return;
    const end = said.sentences.endIn(text);
    const next = text.slice(said.upTo, end).trim();
    if (!next) return;
    said.upTo = end;
    this.say(next);
  }
  /** Answers that no longer stream have ended. */
  ended(going: ReadonlySet<string>, textOf: (node: string) => string, how: Announce): void {
    for (const [node, { upTo: said }] of [...this.#said]) {
      if (going.has(node)) continue;
      this.#said.delete(node);
      const rest = textOf(node).slice(said).trim();
      if (how === "off") this.say("The answer is completed.");
      else if (rest) this.say((said > 0 ? "" : "Answer: ") + cut(rest));
    }
  }
}
const cut = (text: string): string =>
  text.length > HEARD_MAX ? `${text.slice(0, HEARD_MAX)}… Read the rest on the page.` : text;
