// Every screen as people see it, light and dark, filled and empty: into web/screenshots, to be looked at.
import { screens } from "../support/screens";
import { expect, test } from "../support/test";

const FOLDER = "screenshots";

for (const screen of screens) {
  for (const theme of ["light", "dark"] as const) {
    test(`${screen.name}, ${theme}, filled`, async ({ told, story, skein, watch }) => {
      await told.emulateMedia({ colorScheme: theme });
      await told.goto(skein.origin + screen.filled(story));
      if (screen.shows) await expect(screen.shows(told, story).first()).toBeVisible();
      await watch.settled(told, { showsLoading: screen.asksNothing });
      await told.screenshot({ path: `${FOLDER}/${screen.name}-filled-${theme}.png` });
      await told.setViewportSize({ width: 320, height: 640 });
      await told.screenshot({ path: `${FOLDER}/${screen.name}-narrow-${theme}.png` });
    });

    const { empty } = screen;
    if (empty === undefined) continue;
    test(`${screen.name}, ${theme}, empty`, async ({ page, skein, watch }) => {
      await page.emulateMedia({ colorScheme: theme });
      await page.goto(skein.origin + empty);
      await watch.settled(page);
      await page.screenshot({ path: `${FOLDER}/${screen.name}-empty-${theme}.png` });
    });
  }
}
