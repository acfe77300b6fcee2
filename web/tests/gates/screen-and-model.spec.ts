// The model receives exactly the path that stands on the screen when it is asked, whatever was edited, made again, switched,
// forked, folded and said before. `SEED` draws other sequences; a failure names the seed and what was done.
import { type Locator, type Page } from "@playwright/test";
import { composer } from "../support/conversation";
import { Random } from "../support/random";
import { RECORDING, RecordingModel } from "../support/recording-model";
import { expect, serverPath, settled, shownLines, shows, type Line } from "../support/recorded-conversation";
import { test } from "../support/test";

const SEQUENCES = 100;
/** In so many tests, which run beside each other. */
const PARTS = 4;
/** A conversation is used for so many sequences: long paths are read as a whole. */
const SEQUENCES_EACH = 5;
const STEPS_MAX = 3;
const SEED = Number(process.env.SEED ?? 20);
/** How often each act is done at least, in all tests together. */
const AT_LEAST = {
  "ask which version": 10,
  "answer this version": 10,
  "generate several": 10,
  edit: 20,
  fold: 12,
  fork: 12,
  regenerate: 16,
  send: 40,
  "send in a buffer": 20,
  switch: 16,
};
type Act = keyof typeof AT_LEAST;

const isFolded = ({ text }: Line) => text.startsWith("[Branch ");
const textsOf = (lines: readonly Line[]): string[] => lines.map(({ text }) => text);
/** Without the summaries of branches: they come and go with what is folded. */
const said = (lines: readonly Line[]): string[] => textsOf(lines.filter((line) => !isFolded(line)));

class Walk {
  readonly done: string[] = [];
  readonly counts = new Map<Act, number>();
  isBuffer = false;
  #texts = 0;
  #requests = 0;
  constructor(
    private readonly page: Page,
    private readonly model: RecordingModel,
    private readonly draw: Random,
  ) {}

  /** Does something that can be done: what was done least, or anything. */
  async act(): Promise<void> {
    const acts: [Act, () => Promise<boolean>][] = [
      ["edit", this.#edit],
      ["regenerate", this.#regenerate],
      ["generate several", this.#several],
      ["switch", this.#switch],
      ["fork", this.#fork],
      ["fold", this.#fold],
    ];
    if (!this.isBuffer) acts.push(["answer this version", this.#answer], ["ask which version", this.#ask]);
    const share = ([act]: [Act, unknown]) => (this.counts.get(act) ?? 0) / AT_LEAST[act];
    acts.sort((one, other) => share(one) - share(other));
    if (this.draw.below(3) === 0) acts.unshift(this.draw.of(acts));
    for (const [, act] of acts) if (await act.call(this)) break;
    await settled(this.page);
    await this.#agrees();
  }

  /** Says something. Below answers to another version a person says which of the two is meant. */
  async send(): Promise<void> {
    const before = await this.#lines();
    const text = `Question ${++this.#texts}.`;
    await composer(this.page).fill(text);
    await composer(this.page).press("Enter");
    const tail = tailOf(before);
    if (!tail) await this.#compare([...textsOf(before), text]);
    else {
      // Whatever is pressed once more, nothing is sent silently.
      await composer(this.page).press("Enter");
      const path = await this.#chooses(before, tail, before.at(-1), true);
      await this.#compare([...path, text], true);
    }
    this.#count(this.isBuffer ? "send in a buffer" : "send", text);
    await this.#agrees();
  }

  async #edit(): Promise<boolean> {
    const before = await this.#lines();
    const line = this.#drawn(before, ({ isAnswer }) => !isAnswer);
    if (!line) return false;
    await this.#turn(line).getByRole("button", { name: "Edit as a new version" }).click();
    const text = `Version ${++this.#texts}.`;
    const asked = await this.#below(before, line);
    await this.page.getByRole("textbox", { name: "New version" }).fill(text);
    await this.page.getByRole("button", { name: "Save as a new version" }).click();
    await this.page.locator("article", { hasText: text }).waitFor();
    await settled(this.page);
    this.#count("edit", `to ${text}`);
    const at = before.indexOf(line);
    const after = said(await this.#lines());
    const above = asked?.slice(0, -1) ?? said(before.slice(0, at));
    expect(after.slice(0, above.length + 1), "an edit changes nothing above it").toEqual([...above, text]);
    if (this.isBuffer)
      expect(after.slice(above.length + 1), "nor, in a buffer, below it").toEqual(said(before.slice(at + 1)));
    return true;
  }
  async #regenerate(): Promise<boolean> {
    const before = await this.#lines();
    const line = this.#drawn(before, () => true);
    if (!line) return false;
    await this.#turn(line).getByRole("button", { name: "Generate another answer" }).click();
    const asked = await this.#below(before, line, true);
    await this.#compare(asked ? answeredBy(asked, line) : above(before, line), asked !== undefined);
    this.#count("regenerate", line.text);
    return true;
  }
  async #several(): Promise<boolean> {
    const before = await this.#lines();
    const line = this.#drawn(before, () => true);
    if (!line) return false;
    await this.#turn(line).getByRole("button", { name: "More for this turn" }).click();
    await this.page.getByRole("menuitem", { name: /^Generate several answers/ }).click();
    const asked = await this.#below(before, line, true);
    const sheet = this.page.getByRole("dialog", { name: "Generate answers" });
    await sheet.getByRole("spinbutton").fill("2");
    await sheet.getByRole("button", { name: "Generate 2 answers" }).click();
    await this.#compare(asked ? answeredBy(asked, line) : above(before, line), asked !== undefined, 2);
    this.#count("generate several", line.text);
    return true;
  }
  async #answer(): Promise<boolean> {
    const before = await this.#stale();
    const tail = before && tailOf(before);
    if (!before || !tail) return false;
    await this.page.getByRole("button", { name: "Answer this version" }).click();
    await this.#compare(textsOf(before.slice(0, before.indexOf(tail))));
    this.#count("answer this version");
    return true;
  }
  async #ask(): Promise<boolean> {
    if (!(await this.#stale())) return false;
    await this.send();
    this.#count("ask which version");
    return true;
  }
  async #switch(): Promise<boolean> {
    const arrows = this.page.getByRole("button", { name: /^(Previous|Next) alternative$/ });
    const found = () =>
      arrows.evaluateAll((all) =>
        all.flatMap((one, index) => ((one as HTMLButtonElement).disabled ? [] : [index])),
      );
    let pressable = await found();
    if (pressable.length === 0 && (await this.#edit())) pressable = await found();
    if (pressable.length === 0) return false;
    const index = this.draw.of(pressable);
    const kept = this.page.waitForResponse(/\/activate$/);
    await arrows.nth(index).click();
    await kept;
    this.#count("switch", `by arrow ${index}`);
    return true;
  }
  async #fork(): Promise<boolean> {
    const before = await this.#lines();
    const line = this.#drawn(before, () => true);
    if (!line) return false;
    const at = this.page.url();
    await this.#turn(line).focus();
    await this.page.keyboard.press("f");
    const tail = tailOf(before);
    const isBelow = tail && before.indexOf(line) >= before.indexOf(tail);
    const path = isBelow
      ? await this.#chooses(before, tail, line, true)
      : said(before.slice(0, before.indexOf(line) + 1));
    await this.#arrives(at);
    expect(said(await this.#lines()), "the path of the fork").toEqual(path);
    this.#count("fork", line.text);
    return true;
  }
  async #fold(): Promise<boolean> {
    const before = await this.#lines();
    if (!this.#drawn(before, () => true)) return false;
    const tail = tailOf(before);
    const at = this.page.url();
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("Control+k");
    await this.page.keyboard.insertText("Fold this conversation");
    await this.page.keyboard.press("Enter");
    const path = tail ? await this.#chooses(before, tail, before.at(-1), true) : said(before);
    await this.page.getByRole("textbox", { name: "Summary" }).fill(`It was about ${++this.#texts}.`);
    await this.page.getByRole("button", { name: "Fold", exact: true }).click();
    await this.page.getByRole("button", { name: "Continue in a new conversation" }).click();
    await this.#arrives(at);
    expect(said(await this.#lines()), "the path that goes on").toEqual(path);
    this.#count("fold");
    return true;
  }
  async #arrives(from: string): Promise<void> {
    await this.page.waitForURL((url) => url.href !== from);
    await this.page.getByRole("region", { name: "Before the fork" }).waitFor();
    await composer(this.page).waitFor();
    await settled(this.page);
  }

  /** Has answers to another version on the screen: edits a question that has an answer, where there are none. */
  async #stale(): Promise<Line[] | undefined> {
    const before = await this.#lines();
    if (tailOf(before)) return before;
    const line = this.#drawn(before, (one) => !one.isAnswer && after(before, one)?.isAnswer === true);
    if (!line) return undefined;
    await this.#turn(line).getByRole("button", { name: "Edit as a new version" }).click();
    const text = `Version ${++this.#texts}.`;
    await this.page.getByRole("textbox", { name: "New version" }).fill(text);
    await this.page.getByRole("button", { name: "Save as a new version" }).click();
    await this.page.locator("article", { hasText: text }).waitFor();
    await settled(this.page);
    this.#count("edit", `to ${text}`);
    const edited = await this.#lines();
    expect(tailOf(edited), "its answer replies to the version before").toBeDefined();
    return edited;
  }
  /** Below an answer to another version the version is asked for; gives back the path to the turn in that version. */
  async #below(lines: Line[], line: Line, isFirstExempt = false): Promise<string[] | undefined> {
    const tail = tailOf(lines);
    const isAsked = tail && lines.indexOf(line) >= lines.indexOf(tail) + (isFirstExempt ? 1 : 0);
    return isAsked ? this.#chooses(lines, tail, line, false) : undefined;
  }
  /** Chooses a version, and gives back the path that the choice promises to `end`. */
  async #chooses(lines: Line[], tail: Line, end: Line | undefined, isEither: boolean): Promise<string[]> {
    const versions = this.page.getByRole("button", { name: /^Version \d+, with/ });
    await versions.first().waitFor();
    expect(textsOf(await this.#lines()), "nothing is done before the choice").toEqual(textsOf(lines));
    expect(this.model.requests.length).toBe(this.#requests);
    const from = lines.indexOf(tail);
    const isChosen = isEither && this.draw.below(2) === 0;
    const last = lines.slice(0, lines.indexOf(end ?? tail) + 1).findLast(({ id }) => id !== "") ?? tail;
    const path = isChosen ? said(lines.slice(0, from)) : await this.#serverPath(last.id);
    if (!isChosen) {
      const shown = said(lines.slice(from, lines.indexOf(last) + 1));
      expect(path.slice(-shown.length), "the answers on the screen are those of the version").toEqual(shown);
    }
    this.done.push(isChosen ? "without an answer" : "with its answers");
    await this.page
      .getByRole("button", { name: isChosen ? /, without an answer$/ : /, with its answers$/ })
      .click();
    return path;
  }

  /** What the model is sent next is the path that stood on the screen, and stands above its answer now. */
  async #compare(expected: readonly string[], isWithoutFolded = false, requests = 1): Promise<void> {
    const told = await Promise.all(
      Array.from({ length: requests }, (_, nth) => this.model.request(this.#requests + nth)),
    );
    this.#requests += requests;
    await shows(this.page, ...told.map(({ answer }) => answer));
    await settled(this.page);
    const now = textsOf(await this.#lines());
    const shown = now.findIndex((text) => told.some(({ answer }) => answer === text));
    for (const { texts, system } of told) {
      const sent = isWithoutFolded ? texts.filter((text) => !text.startsWith("[Branch ")) : texts;
      // A buffer is one text: what is not said stands on lines of its own.
      if (!this.isBuffer) expect(sent, "what was sent, and the screen at the press").toEqual(expected);
      else expect(written(sent), "what was sent, and the screen at the press").toBe(written(expected));
      if (!this.isBuffer) expect(texts, "and the screen above the answer").toEqual(now.slice(0, shown));
      else expect(written(texts), "and the screen above the answer").toBe(written(now.slice(0, shown)));
      expect(system, "the instructions").toEqual(await this.#instructions());
    }
  }
  async #instructions(): Promise<string[]> {
    const badge = this.page.locator("header .badge", { hasText: "instructions" });
    if ((await badge.count()) === 0) return [];
    return [(await badge.getAttribute("title")) ?? ""];
  }
  /** Unless answers are stale, the server has the path that is on the screen. */
  async #agrees(): Promise<void> {
    const lines = await this.#lines();
    const last = lines.findLast(({ id }) => id !== "");
    if (!last || tailOf(lines)) return;
    expect(said(lines), "the screen, and the path of the server").toEqual(await this.#serverPath(last.id));
  }
  async #serverPath(node: string): Promise<string[]> {
    const conversation = /\/c\/([^/?]+)/.exec(this.page.url())?.[1] ?? "";
    return serverPath(this.page, conversation, node);
  }

  #lines(): Promise<Line[]> {
    return shownLines(this.page);
  }
  #turn({ id }: Line): Locator {
    return this.page.locator(`article[data-node="${id}"]`);
  }
  /** A turn of this conversation, drawn from those that fit. */
  #drawn(lines: readonly Line[], fits: (line: Line) => boolean): Line | undefined {
    const fitting = lines.filter((line) => line.id !== "" && fits(line));
    return fitting.length === 0 ? undefined : this.draw.of(fitting);
  }
  #count(act: Act, what = ""): void {
    this.done.push(`${act} ${what}`.trim());
    this.counts.set(act, (this.counts.get(act) ?? 0) + 1);
  }
}

const tailOf = (lines: readonly Line[]): Line | undefined => lines.find(({ isStale }) => isStale);
const after = (lines: readonly Line[], line: Line): Line | undefined =>
  lines.slice(lines.indexOf(line) + 1).find((one) => !isFolded(one));
/** What an answer replies to that is asked for at a turn: the path above an answer, or the one that ends with a question. */
function above(lines: readonly Line[], line: Line): string[] {
  const at = lines.indexOf(line);
  if (line.isAnswer) return textsOf(lines.slice(0, at));
  const end = lines.findIndex((one, index) => index > at && !isFolded(one));
  return textsOf(end < 0 ? lines : lines.slice(0, end));
}
/** The same of a path that ends with the turn. */
const answeredBy = (path: readonly string[], { isAnswer }: Line): string[] =>
  isAnswer ? path.slice(0, -1) : [...path];
const written = (texts: readonly string[]): string => texts.join("").replace(/\s+/g, "");

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
    const walk = new Walk(page, model, draw);
    try {
      const process = await person.modelProcess("Recording", model, RECORDING);
      for (let sequence = 0; sequence < SEQUENCES / PARTS; sequence++) {
        if (sequence % SEQUENCES_EACH === 0) {
          // Every other conversation is a buffer, and every third has instructions.
          const nth = part + sequence / SEQUENCES_EACH;
          walk.isBuffer = nth % 2 === 1;
          const { id } = await person.begin(`Drawn ${sequence}`, {
            processId: process.id,
            mode: walk.isBuffer ? "buffer" : "dialogue",
            systemContext: nth % 3 === 0 ? "You count herons." : undefined,
          });
          walk.done.length = 0;
          await page.goto(`${skein.origin}/c/${id}`);
          await composer(page).waitFor();
          await walk.send();
        }
        walk.done.push(`sequence ${sequence}`);
        for (let steps = 1 + draw.below(STEPS_MAX); steps > 0; steps--) await walk.act();
        await walk.send();
      }
      for (const [act, least] of Object.entries(AT_LEAST) as [Act, number][])
        expect(walk.counts.get(act) ?? 0, act).toBeGreaterThanOrEqual(least / PARTS);
    } catch (error) {
      console.error(`SEED=${SEED}, part ${part + 1}: ${walk.done.join("; ")}`);
      throw error;
    } finally {
      await model.stop();
    }
  });
}
