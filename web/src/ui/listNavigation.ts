// Lists whose rows are links or buttons: keys move between them, the browser opens them.
import type { Handler } from "../keys/registry.svelte";

const ROW = "[data-row]";
const rowsOf = (list: HTMLElement | undefined): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>(ROW) ?? []),
];

/** Focuses the next row, or the one before; without one in focus the current one, else the first. */
export function moveRow(list: HTMLElement | undefined, step: 1 | -1): HTMLElement | undefined {
  const rows = rowsOf(list);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const current = rows.findIndex((row) => row.getAttribute("aria-current") !== null);
  const next = at >= 0 ? at + step : Math.max(0, current);
  const row = rows[Math.max(0, Math.min(next, rows.length - 1))];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
  return row;
}

/** j and k: they act wherever the focus is on the screen. */
export const listKeys = (list: () => HTMLElement | undefined): Record<string, Handler> => ({
  "list.next": () => moveRow(list(), 1) !== undefined,
  "list.previous": () => moveRow(list(), -1) !== undefined,
});

/** Arrows, Home and End inside a list. */
export function arrowKeys(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  if (event.key === "ArrowDown") moveRow(list, 1);
  else if (event.key === "ArrowUp") moveRow(list, -1);
  else if (event.key === "Home") rowsOf(list)[0]?.focus();
  else if (event.key === "End") rowsOf(list).at(-1)?.focus();
  else return;
  event.preventDefault();
}
