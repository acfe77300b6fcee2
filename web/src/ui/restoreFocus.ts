// Restores the focus after a dialog closes: to its previous element or the nearest that is left.
const CAN_FOCUS =
  ":is(a[href], button, input, select, textarea, summary, [tabindex]):not(:disabled, [tabindex='-1'], [hidden])";

interface Step {
  element: Element;
  /** Index of the child within its parent. */
  place: number;
}
function wayTo(from: Element | null): Step[] {
  const way: Step[] = [];
  for (let element = from; element?.parentElement; element = element.parentElement)
    way.push({ element, place: [...element.parentElement.children].indexOf(element) });
  return way;
}

function take(element: Element | null | undefined): boolean {
  if (!(element instanceof HTMLElement) || element === document.body) return false;
  element.focus();
  return document.activeElement === element;
}
const takeWithin = (element: Element | undefined): boolean =>
  take(element) || [...(element?.querySelectorAll(CAN_FOCUS) ?? [])].some(take);

/** Remembers where the focus is. What it gives back leads there again, unless somebody was led elsewhere meanwhile. */
export function focusHere(): (closed: Element | undefined) => void {
  const way = wayTo(document.activeElement);
  return (closed) => {
    const at = document.activeElement;
    if (at && at !== document.body && !closed?.contains(at)) return;
    if (take(way[0]?.element.isConnected ? way[0].element : undefined)) return;
    const left = way.findIndex(({ element }) => element.isConnected && element !== way[0]?.element);
    const gone = way[left - 1];
    const around = way[left]?.element;
    // First the element that replaced it, then its surroundings.
    const instead = gone && around?.children[Math.min(gone.place, around.children.length - 1)];
    const isPart = around !== undefined && around !== document.body && !around.contains(main());
    if ((isPart && (takeWithin(instead) || takeWithin(around))) || take(main())) return;
  };
}
const main = () => document.querySelector("main");
