// Keeps the element at the upper edge of a view in place while its row grows above or below it.

export interface Anchor {
  row: Element;
  /** Elements at the edge, the smallest part last, each with its offset in the row. */
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

/** Distance the anchored element moved within its row. If it was redrawn, the part around it counts. */
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
