/** Rows to draw next: the drawn ones, and a number of the others, first ones first. */
export function drawnNext(
  keys: readonly string[],
  before: ReadonlySet<string>,
  more: number,
): ReadonlySet<string> {
  const drawn = new Set(keys.filter((key) => before.has(key)));
  for (const key of keys) {
    if (drawn.has(key)) continue;
    if (more-- <= 0) break;
    drawn.add(key);
  }
  return drawn;
}
