// docs/first-five-minutes.md, step by step, as a newcomer would: what it says is what the page does.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { turnWith } from "../support/conversation";
import { expect, test } from "../support/test";

const SCRIPT = join(import.meta.dirname, "../../../docs/first-five-minutes.md");

interface Deed {
  words: string;
  run: (page: Page) => Promise<void>;
}

/** A pressable element by name, of any role. */
const pressable = (within: Page | Locator, name: string): Locator =>
  ["button", "link", "tab", "menuitem"]
    .map((role) => within.getByRole(role as "button", { name, exact: true }))
    .reduce((one, other) => one.or(other))
    .first();

/** Each kind of sentence, and what it means. */
const sentences: [RegExp, (page: Page, ...found: string[]) => Promise<void>][] = [
  [
    /[Pp]ress \*\*(.+?)\*\* at “(.+?)”/,
    (page, name, turn) => pressable(turnWith(page, turn).first(), name).click(),
  ],
  [/[Pp]ress \*\*(.+?)\*\*/, (page, name) => pressable(page, name).click()],
  [
    /Write “(.+?)” into \*\*(.+?)\*\*/,
    (page, text, field) =>
      page
        .getByRole("textbox", { name: field })
        .or(page.getByRole("searchbox", { name: field }))
        .fill(text),
  ],
  [
    /Go to \*\*(.+?)\*\*/,
    (page, place) =>
      page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: place }).first().click(),
  ],
  [
    /open “(.+?)”/,
    (page, title) => page.getByRole("main").getByRole("link", { name: title }).first().click(),
  ],
  [
    /You see “(.+?)”/,
    (page, text) => expect(page.getByText(text).filter({ visible: true }).first()).toBeVisible(),
  ],
];

function deeds(step: string): Deed[] {
  const found: (Deed & { at: number })[] = [];
  let rest = step;
  for (const [pattern, run] of sentences) {
    for (let match = pattern.exec(rest); match; match = pattern.exec(rest)) {
      const [words, ...parts] = match;
      found.push({ at: match.index, words, run: (page) => run(page, ...parts) });
      // Its place is kept, so that what stands before and after keeps its order.
      rest = rest.slice(0, match.index) + " ".repeat(words.length) + rest.slice(match.index + words.length);
    }
  }
  return found.sort((one, other) => one.at - other.at);
}

test("the script of the first five minutes is what the page does", async ({ context, newcomer, watch }) => {
  void watch;
  const text = readFileSync(SCRIPT, "utf8").replace(/\n {2,}/g, " ");
  const steps = [...text.matchAll(/^\d+\. (.+)$/gm)].map(([, step]) => step ?? "");
  expect(steps.length).toBeGreaterThan(8);
  const page = await context.newPage();
  await page.goto(newcomer.link);
  for (const [index, step] of steps.entries()) {
    const found = deeds(step);
    expect(found, `step ${index + 1} says nothing that can be done: ${step}`).not.toEqual([]);
    for (const { words, run } of found) await test.step(`${index + 1}. ${words}`, () => run(page));
  }
});
