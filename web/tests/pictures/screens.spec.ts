// Every screen as people see it, light and dark, filled and empty: into web/screenshots, to be looked at.
import { screens } from "../support/screens";
import { expect, test } from "../support/test";
import { pictures } from "./taken";

for (const screen of screens) {
  test(`${screen.name}, filled`, async ({ told, story, skein, watch }) => {
    await told.goto(skein.origin + screen.filled(story));
    if (screen.shows) await expect(screen.shows(told, story).first()).toBeVisible();
    await watch.settled(told, { showsLoading: screen.asksNothing });
    await pictures(told, `${screen.name}-filled`);
  });

  const { empty } = screen;
  if (empty === undefined) continue;
  test(`${screen.name}, empty`, async ({ untold, skein, watch }) => {
    await untold.goto(skein.origin + empty);
    await watch.settled(untold);
    await pictures(untold, `${screen.name}-empty`);
  });
}
