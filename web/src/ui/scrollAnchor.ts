// What stands at the upper edge of a view, by its place within its row: a row may grow above that, or below it.

export interface Anchor {
  row: Element;
  /** What holds the edge, the smallest part last, each with where it begins in the row. */
  parts: { element: Element; offset: number }[];
}

const offsetIn = (row: Element, element: Element): number =>
  element.getBoundingClientRect().top - row.getBoundingClientRect().top;

export function anchorIn(row: Element, edge: number): Anchor {
  const parts: Anchor["parts"] = [];
  for (let part = firstBelow(row.children, edge); part; part = firstBelow(part.children, edge)) {
    parts.push({ element: part, offset: offsetIn(row, part) });
    if (part.getBoundingClientRect().top >= edge) break;
  }
  return { row, parts };
}

/** How far what stood at the edge went down within its row. Of what was drawn anew, the part around it counts. */
export function movedWithin({ row, parts }: Anchor): number {
  const left = parts.findLast(({ element }) => row.contains(element));
  return left ? offsetIn(row, left.element) - left.offset : 0;
}

/** The first that ends below the edge, of those that stand one under the other. */
function firstBelow(few: HTMLCollection, edge: number): Element | undefined {
  let [from, to] = [0, few.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((few[middle]?.getBoundingClientRect().bottom ?? 0) > edge) to = middle;
    else from = middle + 1;
  }
  return few[from];
}
