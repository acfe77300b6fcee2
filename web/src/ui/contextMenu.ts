// Asked for by the right button, or by a finger that stays: what can be done with something.
const STAYS_MS = 550;
const STILL_PX = 10;

/** For links, fields and chosen text the browser's own menu is the better one. */
const isLeftAlone = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest("a, input, textarea, select, button, audio, img") !== null) ||
  Boolean(getSelection()?.toString());

export const onMenuAsked =
  (ask: (x: number, y: number) => void) =>
  (element: HTMLElement): (() => void) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let from = { x: 0, y: 0 };
    const end = () => clearTimeout(timer);
    const menu = (event: MouseEvent) => {
      if (event.shiftKey || event.defaultPrevented || isLeftAlone(event.target)) return;
      event.preventDefault();
      end();
      ask(event.clientX, event.clientY);
    };
    const down = (event: PointerEvent) => {
      end();
      if (event.pointerType !== "touch" || isLeftAlone(event.target)) return;
      from = { x: event.clientX, y: event.clientY };
      timer = setTimeout(() => ask(from.x, from.y), STAYS_MS);
    };
    const move = (event: PointerEvent) => {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PX) end();
    };
    element.addEventListener("contextmenu", menu);
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    for (const over of ["pointerup", "pointercancel"] as const) element.addEventListener(over, end);
    return () => {
      end();
      element.removeEventListener("contextmenu", menu);
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      for (const over of ["pointerup", "pointercancel"] as const) element.removeEventListener(over, end);
    };
  };
