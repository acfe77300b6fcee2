// Every control of every screen: large enough to be hit, and drawn where people choose the colours themselves.
import { tooSmall, undrawn, unseenFocus } from "../support/controls";
import { screens } from "../support/screens";
import { expect, test } from "../support/test";

for (const screen of screens) {
  test(`controls of ${screen.name}`, async ({ told, story, skein, watch }) => {
    await told.setViewportSize({ width: 1280, height: 1600 });
    await told.emulateMedia({ forcedColors: "active" });
    await told.goto(skein.origin + screen.filled(story));
    if (screen.shows) await expect(screen.shows(told, story).first()).toBeVisible();
    await watch.settled(told, { showsLoading: screen.asksNothing });
    expect.soft(await undrawn(told), "not drawn in forced colours").toEqual([]);
    expect.soft(await unseenFocus(told), "focus not seen in forced colours").toEqual([]);
    expect.soft(await tooSmall(told), "targets below 24 px").toEqual([]);
  });
}
