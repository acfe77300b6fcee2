// Checks a screen on a narrow window: no horizontal scroll, and every control is visible.
import { expect, type Page } from "@playwright/test";
import { drawn } from "./held-requests";

interface Reflow {
  overflow: number;
  hidden: string[];
}

async function reflow(page: Page): Promise<Reflow> {
  return page.evaluate(() => {
    const root = document.scrollingElement ?? document.documentElement;
    const overflow = Math.max(0, root.scrollWidth - root.clientWidth);
    const controls = "button, a[href], input, select, textarea, summary, [role=tab], [role=switch]";
    const hidden: string[] = [];
    for (const control of document.querySelectorAll<HTMLElement>(controls)) {
      if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (control.closest(".visually-hidden, .skip, [inert], [aria-hidden=true]")) continue;
      control.scrollIntoView({ block: "center", inline: "center" });
      const { left, right, width } = control.getBoundingClientRect();
      if (width <= 1) continue;
      const middle = (left + right) / 2;
      if (middle < 0 || middle > innerWidth) {
        const name = control.getAttribute("aria-label") ?? control.textContent ?? "";
        hidden.push(`${control.tagName.toLowerCase()} ${name.trim().slice(0, 40)}`);
      }
    }
    return { overflow, hidden };
  });
}

export async function expectUsableAt(page: Page, width: number, height: number, what: string): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width, height });
  // Sizes are told to the page's observers before the next frame but one.
  await drawn(page);
  expect.soft(await reflow(page), `${what} at ${width} × ${height}`).toEqual({ overflow: 0, hidden: [] });
  if (before) await page.setViewportSize(before);
}
