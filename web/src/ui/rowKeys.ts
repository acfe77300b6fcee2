// j and k in a list: they move the focus from one `[data-row]` to the next inside a region.
import type { Handler } from "../keys/registry.svelte";

const rowsOf = (region: HTMLElement | undefined): HTMLElement[] => [
  ...(region?.querySelectorAll<HTMLElement>("[data-row]") ?? []),
];

/** Focuses the row that many places on; without one in focus the first, or the current one. */
export function moveRow(region: HTMLElement | undefined, by: 1 | -1): HTMLElement | undefined {
  const rows = rowsOf(region);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const current = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
  const next = at >= 0 ? at + by : current >= 0 ? current : 0;
  const row = rows[Math.max(0, Math.min(next, rows.length - 1))];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
  return row;
}

export function rowKeys(region: () => HTMLElement | undefined): Record<string, Handler> {
  return {
    "list.next": () => moveRow(region(), 1) !== undefined,
    "list.previous": () => moveRow(region(), -1) !== undefined,
  };
}
