// Hands on the map: drag to move, wheel or pinch to go nearer, Shift to draw a box, twice to open.
interface Point {
  x: number;
  y: number;
}
export interface Box extends Point {
  width: number;
  height: number;
}
export interface Hands {
  pan: (dx: number, dy: number) => void;
  zoom: (factor: number, at: Point) => void;
  click: (at: Point, more: boolean) => void;
  double: (at: Point) => void;
  hover: (at: Point) => void;
  box: (area: Box | undefined) => void;
  boxed: (area: Box) => void;
}
const STILL = 4;

export function pointing(element: HTMLElement, hands: Hands) {
  const down = new Map<number, Point>();
  let start: (Point & { boxes: boolean; moved: boolean }) | undefined;

  const at = (event: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const areaTo = (to: Point): Box => ({
    x: Math.min(start?.x ?? 0, to.x),
    y: Math.min(start?.y ?? 0, to.y),
    width: Math.abs(to.x - (start?.x ?? 0)),
    height: Math.abs(to.y - (start?.y ?? 0)),
  });
  function press(event: PointerEvent) {
    if (event.button !== 0 || (event.target as Element).closest("[data-minimap]")) return;
    element.setPointerCapture(event.pointerId);
    const point = at(event);
    down.set(event.pointerId, point);
    start = { ...point, boxes: event.shiftKey && down.size === 1, moved: down.size > 1 };
  }
  function move(event: PointerEvent) {
    const point = at(event);
    const last = down.get(event.pointerId);
    if (!last || !start) return void hands.hover(point);
    if (!start.moved && Math.hypot(point.x - start.x, point.y - start.y) < STILL) return;
    start.moved = true;
    if (start.boxes) return void hands.box(areaTo(point));
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const spread = (one: Point) => Math.hypot(one.x - other.x, one.y - other.y) || 1;
      hands.zoom(spread(point) / spread(last), { x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    } else hands.pan(point.x - last.x, point.y - last.y);
    down.set(event.pointerId, point);
  }
  function release(event: PointerEvent) {
    if (!down.delete(event.pointerId) || !start) return;
    const point = at(event);
    if (start.boxes && start.moved) hands.boxed(areaTo(point));
    else if (!start.moved && event.type === "pointerup")
      hands.click(point, event.shiftKey || event.ctrlKey || event.metaKey);
    hands.box(undefined);
    if (down.size === 0) start = undefined;
  }
  function wheel(event: WheelEvent) {
    event.preventDefault();
    if (event.shiftKey) return hands.pan(-event.deltaY - event.deltaX, 0);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    hands.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), at(event));
  }
  const double = (event: MouseEvent) => hands.double(at(event));
  element.addEventListener("pointerdown", press);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", double);
  return {};
}
