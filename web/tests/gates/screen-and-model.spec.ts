// The model receives exactly the path above its answer, whatever was edited, made again, switched, forked,
// folded and said before. `SEED` draws other sequences; a failure names the seed and what was done.
import { expect, type Page } from "@playwright/test";
import { Random } from "../support/random";
import { RECORDING, RecordingModel } from "../support/recording-model";
import { composer } from "../support/conversation";
import { test } from "../support/test";

const SEQUENCES = 100;
/** In so many tests, which run beside each other. */
const PARTS = 4;
/** A conversation is used for so many sequences: long paths are read as a whole. */
const SEQUENCES_EACH = 5;
const STEPS_MAX = 4;
const SEED = Number(process.env.SEED ?? 20);

interface Line {
  text: string;
  isAnswer: boolean;
  isStale: boolean;
}
/** The turns on the screen, what came before a fork first. */
const screen = (page: Page): Promise<Line[]> =>
  page.evaluate(() => {
    const before = [...document.querySelectorAll('section[aria-label="Before the fork"] .one')].map(
      (one) => ({
        text: one.querySelector(".brief, .markdown")?.textContent?.trim() ?? "",
        isAnswer: false,
        isStale: false,
      }),
    );
    const turns = [...document.querySelectorAll("article[data-node]")].map((turn) => ({
      text: turn.querySelector(".markdown")?.textContent?.trim() ?? "",
      isAnswer: turn.querySelector(".who")?.textContent?.trim() !== "You",
      isStale: turn.querySelector(".stale") !== null,
    }));
    return [...before, ...turns];
  });
/** Everything asked for is there: no answer is under way, nothing waits, every text was read. */
const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    const turns = [...document.querySelectorAll("article[data-node]")];
    const isRead = (turn: Element) => turn.querySelector(".markdown, [role=textbox], textarea") !== null;
    const more = document.querySelector('section[aria-label="Before the fork"] p button');
    if (more?.textContent === "Show more") (more as HTMLElement).click();
    return (
      !document.querySelector("article[aria-busy=true], [data-node^=local-]") &&
      turns.every(isRead) &&
      more?.textContent !== "Show more"
    );
  });

class Hand {
  readonly done: string[] = [];
  #texts = 0;
  constructor(
    private readonly page: Page,
    private readonly model: RecordingModel,
    private readonly draw: Random,
  ) {}

  async act(): Promise<void> {
    const acts = [this.#send, this.#edit, this.#regenerate, this.#switch, this.#switch, this.#answer];
    if (this.draw.below(12) === 0) acts.push(this.#fork, this.#fold);
    await this.draw.of(acts).call(this);
    await settled(this.page);
  }

  /** Says something and compares what the model was sent with what stood on the screen, and with what stands there now. */
  async send(): Promise<void> {
    await this.#send();
    await settled(this.page);
  }
  async #send(): Promise<void> {
    const before = await screen(this.page);
    const text = this.#text("Question");
    await composer(this.page).fill(text);
    await composer(this.page).press("Enter");
    const isStale = before.some((line) => line.isStale);
    let which = "";
    if (isStale) {
      // Nothing is sent silently.
      const versions = this.page.getByRole("button", { name: /^Version \d+, with/ });
      await versions.first().waitFor();
      expect((await screen(this.page)).map(({ text: shown }) => shown)).toEqual(
        before.map(({ text: shown }) => shown),
      );
      const button = this.draw.of([/, with its answers$/, /, without an answer$/]);
      which = String(button);
      await this.page.getByRole("button", { name: button }).click();
    }
    this.done.push(`send ${text} ${which}`);
    const after = await this.#compare();
    if (!isStale)
      expect(after, "the path that was on the screen").toEqual([...before.map((l) => l.text), text]);
    else expect(after.at(-1)).toBe(text);
  }
  async #edit(): Promise<void> {
    const turn = await this.#turn((line) => !line.isAnswer);
    if (!turn) return;
    await turn.getByRole("button", { name: "Edit as a new version" }).click();
    const text = this.#text("Version");
    await this.page.getByRole("textbox", { name: "New version" }).fill(text);
    await this.page.getByRole("button", { name: "Save as a new version" }).click();
    this.done.push(`edit to ${text}`);
    await this.page.locator("article", { hasText: text }).waitFor();
  }
  async #regenerate(): Promise<void> {
    const turn = await this.#turn((line) => line.isAnswer);
    if (!turn) return;
    await turn.getByRole("button", { name: "Generate another answer" }).click();
    this.done.push("regenerate");
    await this.#compare();
  }
  async #answer(): Promise<void> {
    const button = this.page.getByRole("button", { name: "Answer this version" });
    if ((await button.count()) === 0) return;
    await button.first().click();
    this.done.push("answer this version");
    await this.#compare();
  }
  async #switch(): Promise<void> {
    const arrows = this.page.getByRole("button", { name: /^(Previous|Next) alternative$/ });
    const pressable = await arrows.evaluateAll((all) =>
      all.flatMap((one, index) => ((one as HTMLButtonElement).disabled ? [] : [index])),
    );
    if (pressable.length === 0) return;
    const index = this.draw.of(pressable);
    const kept = this.page.waitForResponse(/\/activate$/);
    await arrows.nth(index).click();
    this.done.push(`switch by arrow ${index}`);
    await kept;
  }
  async #fork(): Promise<void> {
    const turn = await this.#turn((line) => !line.isStale);
    if (!turn) return;
    const at = this.page.url();
    await turn.focus();
    await this.page.keyboard.press("f");
    this.done.push("fork");
    await this.page.waitForURL((url) => url.href !== at);
    await this.page.getByRole("region", { name: "Before the fork" }).waitFor();
  }
  async #fold(): Promise<void> {
    const at = this.page.url();
    const lines = (await screen(this.page)).filter((line) => !line.isStale);
    if (lines.length === 0) return;
    await this.page.keyboard.press("Control+k");
    await this.page.keyboard.insertText("Fold this conversation");
    await this.page.keyboard.press("Enter");
    await this.page.getByRole("textbox", { name: "Summary" }).fill("It was about numbers.");
    await this.page.getByRole("button", { name: "Fold", exact: true }).click();
    await this.page.getByRole("button", { name: "Continue in a new conversation" }).click();
    this.done.push("fold and go on");
    await this.page.waitForURL((url) => url.href !== at);
    await this.page.getByRole("region", { name: "Before the fork" }).waitFor();
  }

  /** The newest request is the path to its answer on the screen; gives back what it was told. */
  async #compare(): Promise<string[]> {
    const { texts, answer } = await this.model.request(this.#seen);
    this.#seen += 1;
    await this.page
      .locator("article", { hasText: new RegExp(`${answer}\\b`) })
      .first()
      .waitFor();
    await settled(this.page);
    const lines = (await screen(this.page)).map(({ text }) => text);
    expect(texts, "what the model was sent, and the screen above its answer").toEqual(
      lines.slice(0, lines.indexOf(answer)),
    );
    return texts;
  }
  #seen = 0;
  #text(what: string): string {
    return `${what} ${++this.#texts}.`;
  }
  /** A turn of this conversation, drawn from those that fit. */
  async #turn(fits: (line: Line) => boolean) {
    const turns = this.page.locator("article[data-node]");
    const lines = (await screen(this.page)).slice(-(await turns.count()) || undefined);
    const fitting = lines.flatMap((line, index) => (fits(line) ? [index] : []));
    if ((await turns.count()) === 0 || fitting.length === 0) return undefined;
    return turns.nth(this.draw.of(fitting));
  }
}

test.use({ viewport: { width: 1280, height: 12_000 } });
for (let part = 0; part < PARTS; part++) {
  const seed = SEED + part;
  test(`${SEQUENCES / PARTS} drawn sequences send the model what stands on the screen (${part + 1} of ${PARTS})`, async ({
    page,
    person,
    skein,
  }) => {
    const model = await RecordingModel.start();
    const draw = new Random(seed);
    const hand = new Hand(page, model, draw);
    try {
      const process = await person.modelProcess("Recording", model, RECORDING);
      for (let sequence = 0; sequence < SEQUENCES / PARTS; sequence++) {
        if (sequence % SEQUENCES_EACH === 0) {
          const { id } = await person.begin(`Drawn ${sequence}`, { processId: process.id });
          hand.done.length = 0;
          await page.goto(`${skein.origin}/c/${id}`);
          await composer(page).waitFor();
          await hand.send();
        }
        hand.done.push(`sequence ${sequence}`);
        for (let steps = 1 + draw.below(STEPS_MAX); steps > 0; steps--) await hand.act();
        await hand.send();
      }
    } catch (error) {
      console.error(`SEED=${SEED}, part ${part + 1}: ${hand.done.join("; ")}`);
      throw error;
    } finally {
      await model.stop();
    }
  });
}
