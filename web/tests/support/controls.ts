// Checks that every control can be hit, seen and found, also in forced colours.
import type { Page } from "@playwright/test";
import { drawn } from "./held-requests";

const CONTROLS =
  "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=tab], [role=switch], [role=option], [role=treeitem], [role=separator][tabindex]";
/** The smallest a target may be, in pixels. */
const TARGET_MIN = 24;

/** Controls smaller than a target: hit tests at its edges. Links within a sentence are exempt. */
export const tooSmall = (page: Page): Promise<string[]> =>
  page.evaluate(
    ([controls, least]) => {
      const nameOf = (control: Element) =>
        `${control.tagName.toLowerCase()} ${(control.getAttribute("aria-label") ?? control.textContent ?? "").trim().slice(0, 40)}`;
      const isInSentence = (control: Element) =>
        control.matches("a") &&
        getComputedStyle(control).display === "inline" &&
        (control.parentElement?.textContent?.trim().length ?? 0) > (control.textContent?.trim().length ?? 0);
      // Elements behind a dialog cannot be reached.
      const root = document.querySelector("dialog:modal") ?? document;
      const missed: string[] = [];
      for (const control of root.querySelectorAll<HTMLElement>(controls)) {
        if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        if (control.closest(".visually-hidden, .skip, [inert], [aria-hidden=true]") || isInSentence(control))
          continue;
        control.scrollIntoView({ block: "center", inline: "center" });
        const { left, right, top, bottom, width, height } = control.getBoundingClientRect();
        // A line that is dragged is thin; keys move it too.
        if (control.matches("[role=separator]")) continue;
        if (width <= 1 || (width >= least && height >= least)) continue;
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        const labels = control instanceof HTMLInputElement ? [...(control.labels ?? [])] : [];
        const half = least / 2 - 0.5;
        const hits = (dx: number, dy: number) => {
          const at = document.elementFromPoint(x + dx, y + dy);
          return at !== null && [control, ...labels].some((one) => one.contains(at));
        };
        const isHit = [
          [-half, 0],
          [half, 0],
          [0, -half],
          [0, half],
        ].every(([dx = 0, dy = 0]) => hits(dx, dy));
        if (!isHit) missed.push(`${nameOf(control)} ${Math.round(width)} × ${Math.round(height)}`);
      }
      return [...new Set(missed)];
    },
    [CONTROLS, TARGET_MIN] as const,
  );

/** Controls without a visible focus in forced colours. */
export const unseenFocus = (page: Page): Promise<string[]> =>
  page.evaluate((controls) => {
    const lines = (from: Element) => {
      const found: string[] = [];
      for (let at: Element | null = from, up = 0; at && up < 4; at = at.parentElement, up++) {
        const { outlineStyle, outlineWidth, borderWidth } = getComputedStyle(at);
        found.push(outlineStyle === "none" ? "" : outlineWidth, borderWidth);
      }
      return found.join();
    };
    const root = document.querySelector("dialog:modal") ?? document;
    const unseen: string[] = [];
    for (const control of root.querySelectorAll<HTMLElement>(controls)) {
      if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (control.closest("[inert], [aria-hidden=true]") || control.matches(":disabled")) continue;
      (document.activeElement as HTMLElement | null)?.blur();
      const before = lines(control);
      control.focus({ focusVisible: true } as FocusOptions);
      if (document.activeElement !== control) continue;
      if (lines(control) === before)
        unseen.push(
          `${control.tagName.toLowerCase()} ${(control.getAttribute("aria-label") ?? control.textContent ?? "").trim().slice(0, 40)}`,
        );
    }
    return [...new Set(unseen)];
  }, CONTROLS);

/** Controls that are not drawn: their area on a screenshot has one colour. */
export async function undrawn(page: Page): Promise<string[]> {
  await drawn(page);
  const picture = (await page.screenshot({ animations: "disabled", caret: "hide" })).toString("base64");
  return page.evaluate(
    async ([controls, bytes]) => {
      const data = Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([data], { type: "image/png" }));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      if (!context) throw new Error("nothing can be drawn here");
      context.drawImage(bitmap, 0, 0);
      const isBlank = ({ left, top, width, height }: DOMRect) => {
        const pixels = new Uint32Array(
          context.getImageData(left, top, Math.max(1, width), Math.max(1, height)).data.buffer,
        );
        return pixels.every((pixel) => pixel === pixels[0]);
      };
      const root = document.querySelector("dialog:modal") ?? document;
      const blank: string[] = [];
      for (const control of root.querySelectorAll<HTMLElement>(controls)) {
        if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
        if (control.closest(".visually-hidden, .skip, [inert], [aria-hidden=true]")) continue;
        const box = control.getBoundingClientRect();
        const isInSight =
          box.width > 1 &&
          box.left >= 0 &&
          box.top >= 0 &&
          box.right <= innerWidth &&
          box.bottom <= innerHeight;
        const isOnTop = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        if (!isInSight || !isOnTop || !control.contains(isOnTop)) continue;
        if (isBlank(box))
          blank.push(
            `${control.tagName.toLowerCase()} ${(control.getAttribute("aria-label") ?? control.textContent ?? "").trim().slice(0, 40)}`,
          );
      }
      return [...new Set(blank)];
    },
    [CONTROLS, picture] as const,
  );
}
