// Code in what was said: coloured where its language is known, the same text in any case, and quick whatever it is.
import { expectAccessible, expectAccessibleInDark } from "../support/axe";
import { drawn } from "../support/held-requests";
import { turns } from "../support/conversation";
import { expect, test } from "../support/test";

const fenced = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;
const CODE = `// Counts <b>herons</b> & "storks".
const count = (birds: string[]): number => birds.filter((bird) => bird !== "</code><img src=x onerror=alert(1)>").length;`;

test("code is coloured and says what it said", async ({ page, person, skein }) => {
  const { id } = await person.begin("Code");
  const languages = {
    ts: CODE,
    json: '{"herons": 2, "seen": true}',
    python: "def count(birds):\n    return len(birds)  # all",
    rust: "fn main() { let herons = 2_u8; }",
    sql: "SELECT count(*) FROM birds WHERE name = 'heron';",
    sh: 'for bird in *; do echo "$bird"; done # all',
    diff: "-two herons\n+three herons",
    html: '<p class="heron">two</p>',
    yaml: "herons: 2 # seen",
  };
  const text = Object.entries(languages)
    .map(([language, code]) => fenced(language, code))
    .join("\n");
  await person.say(id, `${text}\n${fenced("heronlang", "keyword herons = 2")}\n${fenced("", "let it = 1;")}`);
  await page.goto(`${skein.origin}/c/${id}`);
  const blocks = turns(page).first().locator("pre > code");
  for (const [index, code] of Object.values(languages).entries()) {
    await expect(blocks.nth(index).locator("[class^=hljs-]").first()).toBeAttached();
    expect(await blocks.nth(index).textContent()).toBe(`${code}\n`);
  }
  await expect(turns(page).first().locator("img")).toHaveCount(0);
  await expect(blocks.nth(9).locator("span")).toHaveCount(0);
  await expect(blocks.nth(10).locator("span")).toHaveCount(0);
  await expectAccessible(page, "code");
  await expectAccessibleInDark(page, "code");
});

test("code that is long stays as it is, and holds nobody up", async ({ page, person, skein }) => {
  const { id } = await person.begin("Code");
  await person.say(id, fenced("js", `${"let heron = '\\\\'; ".repeat(3_000)}`));
  await person.say(id, fenced("js", "let stork = 1;"));
  await page.goto(`${skein.origin}/c/${id}`);
  await expect(turns(page).last().locator(".hljs-keyword")).toHaveText("let");
  await drawn(page);
  await expect(turns(page).first().locator("pre > code span")).toHaveCount(0);
});
