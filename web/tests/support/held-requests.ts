// The order of things that take a while, as a test wants it.
import { expect, type Page } from "@playwright/test";

const PROBE = "/favicon.svg?is-heard";
const HEARD = 203;

/**
 * Answers requests of a page in the server's place, from now on. A page that is busy learns only later that it is listened to, and a key
 * that was pressed comes first: so it is asked.
 */
export async function answer(page: Page, ...[at, handler]: Parameters<Page["route"]>): Promise<void> {
  await page.route(at, handler);
  if (!page.url().startsWith("http")) return;
  const probe = (url: URL) => url.href.endsWith(PROBE);
  await page.route(probe, (route) => route.fulfill({ status: HEARD }));
  const isHeard = () => page.evaluate(async (url) => (await fetch(url)).status, PROBE);
  await expect.poll(isHeard).toBe(HEARD);
  await page.unroute(probe);
}

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
  await answer(page, at, async (route) => {
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
