// Model output is foreign: it is shown as text, runs nothing, breaks nothing and stays quick.
import type { Page } from "@playwright/test";
import { Mouse } from "../support/hands";
import { composer, lastTurn, send } from "../support/conversation";
import { expect, test } from "../support/scripted-conversation";

// As much as a node takes, with room for what stands around it.
const MEGABYTE = (1 << 20) - 4096;
/** Upper limit of drawn elements. */
const ELEMENTS_MAX = 2_000;

const corpus: Record<string, string> = {
  "HTML and scripts": `<script>window.broken = 1</script><img src=x onerror="window.broken = 1">
<iframe src="javascript:window.broken=1"></iframe><svg onload="window.broken = 1"><style>*{display:none}</style>
<a href="javascript:window.broken=1">a</a> [b](javascript:window.broken=1) [c](data:text/html,<script>window.broken=1</script>)
<form action="https://example.invalid"><input name=q autofocus onfocus="window.broken=1"></form>
<base href="https://example.invalid/"><meta http-equiv="refresh" content="0;url=https://example.invalid">
![picture](https://example.invalid/tracker.png) <math><mtext><script>window.broken=1</script></mtext></math>`,
  "a huge table": `| a | b | c |\n|---|---|---|\n${"| one | two | three |\n".repeat(20_000)}`,
  "broken Markdown": `${"[".repeat(5000)}${"*_".repeat(5000)}\n\`\`\`\n${"> ".repeat(3000)}deep\n${"- ".repeat(2000)}x\n**never closed`,
  "right to left": `\u202Eevil\u202C مرحبا بالعالم \u2067שלום עולם\u2069 ${"\u200F".repeat(500)}`,
  "stacked diacritics": `Z${"\u0300\u0301\u0302\u0303\u0304".repeat(2000)}algo`,
  "a line of 1 MB": "x".repeat(MEGABYTE),
  "1 MB of words": "heron ".repeat(MEGABYTE / 6),
  "control characters": `\u0001\u0002\u0007\u001b[31mred\u001b[0m \ud83d\udc26 \uFFFE \u2028 \u2029 end`,
};

const BEGINS = "It begins here.";
/** A model says it in pieces, so that it is also shown while it is not whole. */
const PIECES = 3;

for (const [name, text] of Object.entries(corpus)) {
  test(`${name}: safe and quick`, async ({ page, skein, model, conversation }) => {
    await page.goto(`${skein.origin}/c/${conversation}`);
    await composer(page).waitFor();
    await send(new Mouse(page), page, "Say it.");
    const saying = await model.asked();
    const whole = `${BEGINS}\n\n${text}`;
    const length = Math.ceil(whole.length / PIECES);
    for (let at = 0; at < whole.length; at += length) {
      saying.say(whole.slice(at, at + length));
      await expect(lastTurn(page)).toContainText(BEGINS);
      await expectHarmless(page);
    }
    saying.end();
    await expect(page.locator("article[aria-busy=true]")).toHaveCount(0);
    await expectHarmless(page);

    await page.reload();
    await expect(lastTurn(page)).toContainText(BEGINS);
    expect(await page.locator("article *").count()).toBeLessThan(ELEMENTS_MAX);
    await expectHarmless(page);
    // The page still answers.
    await composer(page).fill("still here");
    await expect(composer(page)).toHaveValue("still here");
  });
}

async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    broken: "broken" in window,
    live: document.querySelectorAll("article :is(script, iframe, form, base, meta, object, embed, style)")
      .length,
    handlers: [...document.querySelectorAll("article *")].filter((element) =>
      [...element.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    links: [...document.querySelectorAll<HTMLAnchorElement>("article a[href]")].filter(({ protocol }) =>
      /javascript|data|vbscript/.test(protocol),
    ).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  expect(found).toEqual({ broken: false, live: 0, handlers: 0, links: 0, overflow: 0 });
}
