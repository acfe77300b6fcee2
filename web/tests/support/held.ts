// The order of things that take a while, as a test wants it.
import type { Page } from "@playwright/test";

/** Holds requests back until they are let go, later ones no more, and tells when the first one was made. */
export async function held(
  page: Page,
  at: RegExp,
  method: string,
): Promise<{ made: Promise<void>; letGo: () => void }> {
  let letGo = () => {};
  let told = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  const made = new Promise<void>((resolve) => (told = resolve));
  await page.route(at, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    told();
    await free;
    await route.continue();
  });
  return { made, letGo };
}

/** Waits until what is known by now is on the screen. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
