// Keeps what is current in sight where a row is wider than its room.
import type { Attachment } from "svelte/attachments";

/** Scrolls the row sideways to its current entry, when it becomes so and when the room changes. */
export const inSight =
  (isCurrent: boolean): Attachment<HTMLElement> =>
  (entry) => {
    if (!isCurrent) return;
    let row = entry.parentElement;
    while (row && !/auto|scroll/.test(getComputedStyle(row).overflowX)) row = row.parentElement;
    if (!row) return;
    const box = row;
    const watch = new ResizeObserver(() => {
      const { left, right } = entry.getBoundingClientRect();
      const room = box.getBoundingClientRect();
      if (left < room.left) box.scrollLeft -= room.left - left;
      else if (right > room.right) box.scrollLeft += right - room.right;
    });
    watch.observe(box);
    return () => watch.disconnect();
  };
