// A screen that nobody touches asks for nothing: what it reads is no reason to read it again.
import { screens } from "../support/screens";
import { expect, test } from "../support/test";

/** Requests a screen may make for the same data while it opens: one of its own, one for an event meanwhile. */
const SAME_MAX = 4;
/** As often as a screen looks by itself at what is under way. */
const LOOK_EVERY_MS = 2_000;
/** Number of frames observed. */
const FRAMES = 60;

for (const { name, filled } of screens) {
  test(`${name} comes to rest`, async ({ told, story, skein }) => {
    const asked = new Map<string, number>();
    told.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith("/api/v1/"))
        asked.set(pathname + search, (asked.get(pathname + search) ?? 0) + 1);
    });
    const began = Date.now();
    await told.goto(skein.origin + filled(story));
    await told.locator("main").first().waitFor();
    await told.evaluate(async (frames) => {
      for (let frame = 0; frame < frames; frame++) await new Promise((done) => requestAnimationFrame(done));
    }, FRAMES);
    // On a slow machine the frames take a while.
    const most = SAME_MAX + Math.floor((Date.now() - began) / LOOK_EVERY_MS);
    expect([...asked].filter(([, times]) => times > most)).toEqual([]);
  });
}
