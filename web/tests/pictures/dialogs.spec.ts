// Pictures of dialogs without an address, light and dark: into web/screenshots, for review.
import type { Page } from "@playwright/test";
import type { Story } from "../support/story";
import { test } from "../support/test";
import { pictures } from "./taken";

const conversation = ({ survey }: Story) => `/c/${survey}`;
const aside = ({ survey, stale }: Story) => `/c/${survey}/n/${stale.localId}`;
const run =
  (view: string) =>
  ({ failed }: Story) =>
    `/runs/${failed}?view=${view}`;
const press = (chord: string) => (page: Page) => page.keyboard.press(chord);
const button = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name }).last().click();

const OPENED: [name: string, place: (story: Story) => string, open?: (page: Page) => Promise<void>][] = [
  ["palette", conversation, press("Control+k")],
  ["keys", conversation, press("?")],
  ["operations", conversation, press("Shift+U")],
  ["branches", conversation, press("w")],
  ["several", conversation, press("Shift+G")],
  ["alternatives", aside, button(/show all alternatives/)],
  ["turn-menu", conversation, button("More for this turn")],
  ["conversation-menu", conversation, button("More for this conversation")],
  ["instructions", conversation, button("Title and instructions")],
  ["beside", conversation, press("s")],
  ["run-timeline", run("timeline")],
  ["run-flame", run("flame")],
  ["run-graph", run("graph")],
  ["run-log", run("log")],
  ["run-checkpoints", run("checkpoints")],
  ["run-branch", run("tree"), press("Shift+B")],
];

for (const [name, place, open] of OPENED) {
  test(name, async ({ told, story, skein, watch }) => {
    await told.goto(skein.origin + place(story));
    await watch.settled(told);
    await open?.(told);
    await watch.settled(told);
    await pictures(told, `opened-${name}`);
  });
}
