// Positions a popover under its trigger and inside the window.
const GAP = 4;
const EDGE = 8;

export const isPopoverSupported = typeof HTMLElement !== "undefined" && "popover" in HTMLElement.prototype;

export function placed(popped: HTMLElement, at: DOMRect): void {
  const { width, height } = popped.getBoundingClientRect();
  const below = at.bottom + GAP;
  const fits = below + height <= innerHeight - EDGE;
  const top = fits ? below : Math.max(EDGE, at.top - GAP - height);
  const left = Math.max(EDGE, Math.min(at.left, innerWidth - width - EDGE));
  popped.style.top = `${top}px`;
  popped.style.left = `${left}px`;
}
