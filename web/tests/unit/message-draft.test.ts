import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { dropDraft, keepDraft } from "../../src/state/drafts";
import { placeOf, messageDraftOf } from "../../src/state/messageDraft.svelte";

const picture = { key: "a", name: "heron.png", block: { type: "image", ref: "item_1" } as never };
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  dropDraft(placeOf("c1"));
  vi.useRealTimers();
});

it("keeps attachments as it keeps words", () => {
  const writing = messageDraftOf("c1");
  writing.attach([picture, { key: "b", name: "on its way.png" }]);
  writing.attach([picture]);
  writing.put("Look at this.");
  const again = messageDraftOf("c1");
  expect(again).not.toBe(writing);
  expect([again.text, again.attached]).toEqual(["Look at this.", [picture]]);
});

it("reads drafts that were only words", () => {
  keepDraft(placeOf("c1"), "Words");
  expect(messageDraftOf("c1").text).toBe("Words");
});

it("is found again while it is on its way, and given back before what was written since", () => {
  const writing = messageDraftOf("c1");
  writing.put("First");
  writing.attach([picture]);
  writing.isSending = true;
  const { giveBack } = writing.take();
  // Somebody leaves and comes back before the answer is there.
  const again = messageDraftOf("c1");
  again.put("Second");
  giveBack();
  writing.isSending = false;
  expect([again.text, again.attached]).toEqual(["First\nSecond", [picture]]);
  expect(messageDraftOf("c1").text).toBe("First\nSecond");
});
