// What stays where it is on the screen while rows around it grow: what is being said now, else what stands at the upper edge.

/** Marks what somebody reads while something may come above it. */
export const STILL = "data-still";

export interface Anchor {
  element: Element;
  /** From the upper edge of the view. */
  top: number;
  scrolled: number;
  /** It is being read, wherever in the view it is. */
  isRead: boolean;
}

/** What must not move, of rows that are drawn in a scroller. */
export function anchorIn(scroller: HTMLElement, rows: Element): Anchor | undefined {
  const view = scroller.getBoundingClientRect();
  // Whoever sees but the beginning of it reads what stands above.
  const middle = (view.top + view.bottom) / 2;
  const marked = [...rows.querySelectorAll(`[${STILL}]`)].findLast((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > view.top && top < middle;
  });
  const element = marked ?? atEdge(rows, view.top);
  if (!element) return undefined;
  const top = element.getBoundingClientRect().top - view.top;
  return { element, top, scrolled: scroller.scrollTop, isRead: marked !== undefined };
}

/** How far it went down on the screen, and how far in what is scrolled. */
export function movedBy({ element, top, scrolled }: Anchor, scroller: HTMLElement) {
  const onScreen = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top - top;
  return { onScreen, inside: onScreen + scroller.scrollTop - scrolled };
}

/** The smallest part that is cut by the edge, or the first below it. */
function atEdge(whole: Element, edge: number): Element | undefined {
  let found: Element | undefined;
  for (let around: Element | undefined = whole; around;) {
    const next: Element | undefined = firstBelow(around.children, edge);
    if (next) found = next;
    around = next && next.getBoundingClientRect().top < edge ? next : undefined;
  }
  return found;
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
