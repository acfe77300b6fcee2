// An administrator looks at somebody else's things by a grant: on the page, reading only, and until it ends.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Api } from "../support/api";
import { composer, turnWith } from "../support/conversation";
import { expect, newcomer, test } from "../support/test";

test("a grant reads another user's conversation and changes nothing", async ({
  page,
  person,
  skein,
  watch,
}) => {
  // A grant that was ended is refused.
  watch.allow(/status of 403/);
  const { person: anna } = await newcomer(skein, "Anna");
  const { id } = await anna.begin("A lost note");
  const said = await anna.say(id, "The key is under the third stone.");
  await anna.edit(said, "The key is under the second stone.");
  await person.begin("My own things");

  await page.goto(`${skein.origin}/settings/users`);
  await page.getByRole("button", { name: "View the account of Anna" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("ticket 42");
  await dialog.getByRole("textbox", { name: "Reason" }).fill("Anna asked me to look for a lost note");
  await dialog.getByRole("button", { name: "Create grant" }).click();
  await dialog.getByRole("button", { name: "View now" }).click();

  const banner = page.getByRole("region", { name: "Viewing another account" });
  await expect(banner).toContainText("Anna");
  await expect(page.getByRole("main")).not.toContainText("My own things");
  await page.getByRole("main").getByRole("link", { name: "A lost note" }).click();
  await expect(turnWith(page, "under the second stone")).toBeVisible();
  await expect(composer(page)).toHaveCount(0);
  await expect(page.getByText("You cannot write here.")).toBeVisible();
  // The viewer may switch branches; Anna's own path does not change.
  await page.getByRole("button", { name: "Previous alternative" }).click();
  await expect(turnWith(page, "under the third stone")).toBeVisible();
  await page.getByRole("article").first().focus();
  await page.keyboard.press("b");
  await expect(page.getByText("This grant is read-only.")).toBeVisible();
  expect(await anna.end(id)).not.toBe(said.id);
  await anna.findable();
  for (const query of ["stone", "stone+author:anna"]) {
    await page.goto(`${skein.origin}/search?q=${query}`);
    await expect(page.getByRole("main").getByRole("link", { name: /second stone/ })).toBeVisible();
  }

  // Anna ends it: the tab is its owner's again.
  const { data } = await anna.api.get<{ data: { id: string }[] }>("/grants");
  await anna.api.delete(`/grants/${data[0]?.id}`);
  // The page leaves by itself as soon as it asks for something or its events end, which may break this navigation off.
  await page.goto(`${skein.origin}/conversations`, { waitUntil: "commit" }).catch((error: Error) => {
    if (!error.message.includes("ERR_ABORTED")) throw error;
  });
  await expect(page.getByRole("heading", { name: "Who can view your data" })).toBeVisible();
  await expect(banner).toHaveCount(0);
  await page.goto(`${skein.origin}/conversations`);
  await expect(page.getByRole("main").getByRole("link", { name: "My own things" })).toBeVisible();
});

/** A dot of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** A tenth of a second of silence. */
function wave(): Buffer {
  const samples = 800;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}
async function attached({ address, cookie }: Api, type: string, bytes: Buffer): Promise<string> {
  const headers = { cookie, origin: address, "idempotency-key": randomUUID(), "content-type": type };
  const answer = await fetch(`${address}/api/v1/blobs`, {
    method: "POST",
    headers,
    body: new Uint8Array(bytes),
  });
  return ((await answer.json()) as { itemId: string }).itemId;
}

test("pictures, sound and the export of somebody else come by the grant, too", async ({
  home: page,
  person,
  skein,
}) => {
  const { person: anna } = await newcomer(skein, "Anna");
  const { id } = await anna.begin("A dot and a silence");
  const [picture, sound] = [
    await attached(anna.api, "image/png", PNG),
    await attached(anna.api, "audio/wav", wave()),
  ];
  const image = { type: "image", ref: picture, mimeType: "image/png", width: 1, height: 1, altText: "a dot" };
  const audio = { type: "audio", ref: sound, mimeType: "audio/wav", durationMs: 100 };
  const blocks = [{ type: "text", text: "Look and listen." }, image, audio];
  await anna.api.post(`/conversations/${id}/turns`, { content: { type: "mixed", blocks } });
  const account = await anna.api.get<{ user: { id: string } }>("/account");
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const grant = await person.api.post<{ id: string }>("/grants", {
    ownerId: account.user.id,
    name: "ticket 43",
    reason: "Anna cannot hear it",
    until,
  });
  await page.evaluate((look) => sessionStorage.setItem("skein.look", JSON.stringify(look)), {
    grant: grant.id,
    owner: "Anna",
    until,
  });

  await page.goto(`${skein.origin}/c/${id}`);
  await page.getByRole("button", { name: "Show a dot full size" }).click();
  const whole = page.getByRole("dialog", { name: "a dot" }).getByRole("img");
  await expect.poll(() => whole.evaluate((img) => (img as HTMLImageElement).naturalWidth)).toBe(1);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Load the audio" }).press("Enter");
  const player = page.locator("audio");
  await expect
    .poll(() => player.evaluate((element) => (element as HTMLAudioElement).duration))
    .toBeCloseTo(0.1, 1);

  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "More for this conversation" }).click();
  await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
  const file = await coming;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  expect(await readFile(await file.path(), "utf8")).toContain("Look and listen.");
});
