// Search: every branch, what was brought from elsewhere, hostile hits; and what is remembered while one writes.
import { expectAccessible } from "../support/axe";
import { expectUsableAt } from "../support/reflow";
import { composer, turnWith } from "../support/conversation";
import { expect, test } from "../support/test";

const field = "Search messages";

test("a hit on another branch is found and opened there", async ({ page, person, skein }) => {
  const { id } = await person.begin("Holiday");
  const asked = await person.say(id, "We travel to Portugal by train.");
  await person.edit(asked, "We travel to Norway by boat.");
  await person.findable();
  await page.goto(`${skein.origin}/search`);
  await page.getByRole("searchbox", { name: field }).fill("Portugal");
  const hit = page.getByRole("main").getByRole("link", { name: /Portugal by train/ });
  await expect(hit).toContainText("On another branch");
  await page.getByRole("button", { name: "Current paths only" }).click();
  await expect(page.getByRole("heading", { name: "No match" })).toBeVisible();
  await page.getByRole("button", { name: "Remove filters" }).click();
  await hit.click();
  await expect(turnWith(page, "We travel to Portugal by train.")).toBeVisible();
  await expect(turnWith(page, "1/2")).toHaveCount(1);
});

test("an imported episode is shown as text with its source", async ({ page, person, skein }) => {
  await person.api.post("/episodes", {
    source: "message",
    content: "The bittern booms at dusk.\nIt was heard twice.",
    speaker: "Ada Lovelace",
    validAt: "2026-05-01T09:30:00.000Z",
  });
  await person.api.post("/episodes", { source: "json", content: { bird: "bittern", nests: [2, 3] } });
  await person.findable();
  await page.goto(`${skein.origin}/search?q=bittern`);
  const group = page.getByRole("region", { name: "Imported" });
  await expect(group.getByRole("listitem")).toHaveCount(2);
  const hit = group.getByRole("button", { name: /Ada Lovelace/ });
  await expect(hit).toContainText("imported");
  await hit.press("Enter");
  const whole = page.getByRole("article", { name: "Imported episode" });
  await expect(whole).toContainText("It was heard twice.");
  await expect(whole).toContainText("Ada Lovelace");
  await expect(whole).toContainText("every path");
  await page.getByRole("combobox", { name: "Author" }).selectOption({ label: "You" });
  await expect(page.getByRole("heading", { name: "No match" })).toBeVisible();
  await page.getByRole("combobox", { name: "Author" }).selectOption({ label: "Imported" });
  await expect(group.getByRole("listitem")).toHaveCount(2);
});

test("a hostile hit is text, and stays in its row", async ({ page, person, skein }) => {
  const hostile = `<img src=x onerror="window.broken = 1"><script>window.broken = 1</script> quagga
[a](javascript:window.broken=1) \u202Eevil\u202C ${"\u0300".repeat(400)} ${"x".repeat(20_000)}`;
  const { id } = await person.begin(`<b onmouseover="window.broken=1">Title</b> ${"y".repeat(150)}`);
  await person.say(id, hostile);
  await person.api.post("/episodes", {
    source: "text",
    content: hostile,
    speaker: "<script>window.broken=1</script>",
  });
  await person.findable();
  await page.goto(`${skein.origin}/search?q=${encodeURIComponent('quagga <script> "onerror" ([a-z]+)*$')}`);
  const hits = page.locator("[data-hit]");
  await expect(hits).toHaveCount(2);
  await expect(page.locator("mark").filter({ hasText: "quagga" })).toHaveCount(2);
  await page.locator("button[data-hit]").click();
  await expect(page.getByRole("article", { name: "Imported episode" })).toContainText("quagga");
  const found = await page.evaluate(() => ({
    broken: "broken" in window,
    live: document.querySelectorAll("main :is(script, iframe, img, b[onmouseover])").length,
    handlers: [...document.querySelectorAll("main *")].filter((element) =>
      [...element.attributes].some(({ name }) => name.startsWith("on")),
    ).length,
    links: [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].filter(({ protocol }) =>
      /javascript|data|vbscript/.test(protocol),
    ).length,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    // Three lines of a snippet and what stands over it.
    tall: [...document.querySelectorAll("a[data-hit]")].filter((hit) => hit.clientHeight > 200).length,
  }));
  expect(found).toEqual({ broken: false, live: 0, handlers: 0, links: 0, overflow: 0, tall: 0 });
});

test("related messages are offered while a person writes", async ({ page, person, skein }) => {
  const { id: before } = await person.begin("Birds");
  const said = await person.say(before, "The kingfisher nests in the bank below the mill.");
  await person.api.post("/episodes", {
    source: "text",
    content: "A kingfisher was ringed at the mill in June.",
  });
  const { id } = await person.begin("Walk");
  // It is asked about once, and answered with what is there.
  await person.findable();
  await page.goto(`${skein.origin}/c/${id}`);
  await composer(page).fill("where does the kingfisher nest?");
  const panel = page.locator("details").filter({ hasText: "related messages" });
  await expect(panel).toContainText("2 related messages");
  await panel.locator("summary").press("Enter");
  await expect(panel.getByRole("link", { name: /bank below the mill/ })).toHaveAttribute(
    "href",
    `/c/${before}/n/${said.id}`,
  );
  // The typed text is still there after a visit elsewhere.
  await panel.getByRole("link", { name: /was ringed/ }).click();
  await expect(page.getByRole("article", { name: "Imported episode" })).toContainText("in June");
  await page.goBack();
  await expect(composer(page)).toHaveValue("where does the kingfisher nest?");
  await composer(page).fill("a");
  await expect(panel).toHaveCount(0);
});

test("filters are typed among the words, and taken away again", async ({ page, person, skein }) => {
  const { id } = await person.begin("Gulls");
  await person.say(id, "The kittiwakes nest on the ledge.");
  await person.answered(id);
  await person.findable();
  await page.goto(`${skein.origin}/search`);
  const box = page.getByRole("searchbox", { name: field });
  const hits = page.locator("a[data-hit]");
  await box.fill("kittiwakes author:me");
  await expect(hits).toHaveCount(1);
  await expect(hits).toContainText("nest on the ledge");
  await box.fill("kittiwakes model:offline");
  await expect(hits.first()).toContainText("Model");
  await expect(page.getByText("The kittiwakes nest", { exact: false }).first()).toBeVisible();
  await box.fill("kittiwakes model:gpt-17");
  await expect(page.getByRole("heading", { name: "No match" })).toBeVisible();
  await page.getByRole("button", { name: "Remove model:gpt-17" }).press("Enter");
  await expect(box).toHaveValue("kittiwakes");
  await expect(hits.first()).toBeVisible();
  await box.fill("kittiwakes before:2001");
  await expect(page.getByRole("heading", { name: "No match" })).toBeVisible();
  await page.getByRole("button", { name: "Remove filters" }).click();
  await expect(box).toHaveValue("kittiwakes");
  // The same twice is one filter, and is one again after reloading; of two of a kind the last counts.
  await box.fill("kittiwakes author:me author:me");
  await expect(hits).toHaveCount(1);
  await page.reload();
  const typed = page.getByRole("group", { name: "Filters in the text" });
  await expect(typed.getByRole("button")).toHaveCount(1);
  await expect(hits).toHaveCount(1);
  await box.fill("kittiwakes author:model author:me");
  await expect(typed).toContainText("by models replaced by a later filter");
  await expect(hits).toContainText("nest on the ledge");
  await box.fill("has:tool");
  await expect(page.getByText("Add words to search for.")).toBeVisible();
  await expectAccessible(page, "typed filters");
  await expectUsableAt(page, 320, 640, "typed filters");
});

test("an empty page of results offers more while pages are left", async ({ page, person, skein }) => {
  const bring = (n: number) =>
    person.api.post("/episodes", { source: "text", content: `Dunlin ${n} was ringed.`, speaker: "Dora" });
  for (let from = 0; from < 320; from += 40)
    await Promise.all(Array.from({ length: 40 }, (_, n) => bring(from + n)));
  await person.findable();
  await page.goto(`${skein.origin}/search?q=dunlin+author:me`);
  await expect(page.getByRole("heading", { name: "No match in the first 300" })).toBeVisible();
  await page.getByRole("button", { name: "More" }).press("Enter");
  await expect(page.getByRole("heading", { name: "No match" })).toBeVisible();
});

test("the user's own messages are found by their name, with words and among bookmarks", async ({
  page,
  person,
  skein,
}) => {
  const { user } = await person.api.get<{ user: { name: string } }>("/account");
  const { id } = await person.begin("Gulls");
  const { question } = await person.ask(id, "The herring gulls are loud.");
  await person.mark(question, { bookmarked: true });
  await person.api.post("/episodes", { source: "text", content: "Herring gulls, two.", speaker: "Zoltan" });
  const hits = page.locator("[data-hit]");
  await person.findable();
  for (const words of ["gulls", "has:bookmark", "gulls has:bookmark"]) {
    await page.goto(`${skein.origin}/search?q=${encodeURIComponent(`${words} author:"${user.name}"`)}`);
    await expect(hits).toHaveCount(1);
    await expect(hits).toContainText("gulls are loud");
  }
});

test("an author filter finds messages and imported episodes", async ({ page, person, skein }) => {
  const { id } = await person.begin("Waders");
  const { answer } = await person.ask(id, "The whimbrels are back.");
  const { name } = await person.api.get<{ name: string }>(`/actors/${answer.authorId}`);
  await person.api.post("/episodes", { source: "text", content: "Whimbrels, nine.", speaker: name });
  await person.api.post("/episodes", { source: "text", content: "Whimbrels, ten.", speaker: "Zoltan" });
  await person.findable();
  await page.goto(`${skein.origin}/search?q=${encodeURIComponent(`whimbrels author:"${name}"`)}`);
  await expect(page.locator("[data-hit]")).toHaveCount(2);
  await expect(page.locator("a[data-hit]")).toContainText("Model");
  await expect(page.locator("button[data-hit]")).toContainText("nine");
});
