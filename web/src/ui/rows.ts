// Lists whose rows are links or buttons: keys move between them, the browser opens them.
const ROW = "[data-row]";

/** Moves the focus to the next row, or the one before; the first if none has it. */
export function moveRow(list: HTMLElement | undefined, step: 1 | -1): boolean {
  const rows = [...(list?.querySelectorAll<HTMLElement>(ROW) ?? [])];
  if (rows.length === 0) return false;
  const focused = document.activeElement?.closest<HTMLElement>(ROW);
  const current = rows.findIndex((row) => row.getAttribute("aria-current") !== null);
  const at = focused && rows.includes(focused) ? rows.indexOf(focused) : current;
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return true;
}

/** Arrows, Home and End inside a list. */
export function rowKeys(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const rows = [...list.querySelectorAll<HTMLElement>(ROW)];
  if (event.key === "ArrowDown") moveRow(list, 1);
  else if (event.key === "ArrowUp") moveRow(list, -1);
  else if (event.key === "Home") rows[0]?.focus();
  else if (event.key === "End") rows.at(-1)?.focus();
  else return;
  event.preventDefault();
}
