// Conversations whose model keeps what it was sent, to be compared with the path on the screen.
import type { Locator, Page } from "@playwright/test";
import type { Schemas } from "./api";
import { composer, turnWith } from "./conversation";
import { RECORDING, RecordingModel } from "./recording-model";
import { test as base } from "./test";

export { expect } from "./test";

/** Begins a conversation that the recording model answers, and opens it. */
type Begin = (title: string, more?: Partial<Schemas["ConversationBody"]>) => Promise<string>;
export const test = base.extend<{ model: RecordingModel; begin: Begin }>({
  model: async ({}, use) => {
    const model = await RecordingModel.start();
    await use(model);
    await model.stop();
  },
  begin: async ({ page, person, skein, model }, use) => {
    const process = await person.modelProcess("Recording", model, RECORDING);
    await use(async (title, more) => {
      const { id } = await person.begin(title, { processId: process.id, ...more });
      await page.goto(`${skein.origin}/c/${id}`);
      await composer(page).waitFor();
      return id;
    });
  },
});

export interface Line {
  /** Its node; none for what came before a fork, and for what was folded. */
  id: string;
  text: string;
  isAnswer: boolean;
  isStale: boolean;
}

/** Everything on the screen that models get, in order: turns before a fork first, summaries of folded branches after theirs. */
export const shownLines = (page: Page): Promise<Line[]> =>
  page.evaluate(() => {
    const textIn = (element: Element | null) => element?.textContent?.trim() ?? "";
    const foldedIn = (element: Element): Line[] =>
      [...element.querySelectorAll(".folded span")].map((one) => {
        const summary = textIn(one.querySelector("q"));
        const title = /^Branch “(.*)” was folded:/s.exec(textIn(one))?.[1];
        return {
          id: "",
          text: `[Branch "${title}" was folded: ${summary}]`,
          isAnswer: false,
          isStale: false,
        };
      });
    const before = [...document.querySelectorAll('section[aria-label="Before the fork"] .one')].flatMap(
      (one) => [
        { id: "", text: textIn(one.querySelector(".brief, .markdown")), isAnswer: false, isStale: false },
        ...foldedIn(one),
      ],
    );
    const turns = [...document.querySelectorAll("article[data-node]")].flatMap((turn) => [
      {
        id: turn.getAttribute("data-node") ?? "",
        text: textIn(turn.querySelector(".markdown")),
        isAnswer: textIn(turn.querySelector(".who")) !== "You",
        isStale: turn.querySelector(".stale") !== null,
      },
      ...foldedIn(turn),
    ]);
    return [...before, ...turns];
  });
export const shownTexts = async (page: Page): Promise<string[]> =>
  (await shownLines(page)).map(({ text }) => text);

/** Everything asked for is there: no answer is under way, nothing waits, every text was read. */
export const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => {
    const turns = [...document.querySelectorAll("article[data-node]")];
    const isRead = (turn: Element) =>
      turn.querySelector(".markdown, [role=textbox], textarea, .notice") !== null;
    const more = document.querySelector('section[aria-label="Before the fork"] p button');
    if (more?.textContent === "Show more") (more as HTMLElement).click();
    return (
      !document.querySelector("article[aria-busy=true], [data-node^=local-]") &&
      turns.every(isRead) &&
      more?.textContent !== "Show more"
    );
  });

/** One of the answers stands on the screen. It is looked for at every frame, which a locator does not do. */
export const shows = (page: Page, ...answers: string[]): Promise<unknown> =>
  page.waitForFunction((wanted) => {
    const isThere = new RegExp(`(${wanted.join("|")})\\b`);
    const turns = [...document.querySelectorAll("article")];
    return turns.some((turn) => isThere.test(turn.textContent) && turn.checkVisibility());
  }, answers);

/** What the server says the path to a node is; to where its owner stands, unless one is named. */
export async function serverPath(page: Page, conversation: string, node?: string): Promise<string[]> {
  const query = new URLSearchParams({ limit: "1000", ...(node ? { nodeId: node } : {}) });
  const url = new URL(`/api/v1/conversations/${conversation}/path?${query}`, page.url());
  const answer = await page.request.get(url.href, { failOnStatusCode: true });
  const { data } = (await answer.json()) as { data: Schemas["NodeView"][] };
  return data.map(({ content }) => String((content as { text?: string } | null)?.text ?? ""));
}

/** Says something and waits for its answer; gives back what the model was sent. */
export async function ask(page: Page, model: RecordingModel, text: string): Promise<string[]> {
  const before = model.requests.length;
  await composer(page).fill(text);
  await composer(page).press("Enter");
  return answeredBy(page, model, before);
}

/** Waits for a request and its answer; gives back what the model was sent. */
export async function answeredBy(page: Page, model: RecordingModel, number: number): Promise<string[]> {
  const { texts, answer } = await model.request(number);
  await shows(page, answer);
  await settled(page);
  return texts;
}

export async function editTurn(page: Page, text: string, to: string): Promise<void> {
  await turnWith(page, text).first().getByRole("button", { name: "Edit as a new version" }).click();
  await saveEdit(page, to);
}
export async function saveEdit(page: Page, to: string): Promise<void> {
  await page.getByRole("textbox", { name: "New version" }).fill(to);
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await turnWith(page, to).first().waitFor();
  await settled(page);
}
export const previous = (turn: Locator): Locator =>
  turn.getByRole("button", { name: "Previous alternative" });
export const nodeAt = async (page: Page, index: number): Promise<string> =>
  (await page.locator("article[data-node]").nth(index).getAttribute("data-node")) ?? "";
