// Camera of the map: spacing of steps and rows, and the position of the upper left corner.
export interface Camera {
  /** Pixels per step to the right. */
  stepX: number;
  /** Pixels per row. */
  stepY: number;
  /** Of the plane, in pixels, at the left and upper edge of the window. */
  left: number;
  top: number;
}
export interface Extent {
  width: number;
  height: number;
}
export type Detail = "dots" | "titles" | "cards";

export const STEP_X_MAX = 300;
export const STEP_Y_MAX = 96;
const STEP_MIN = 0.002;
const MARGIN = 28;
/** Room for the words right of the last step. */
const TAIL = 0.9;

export function detailOf({ stepX, stepY }: Camera): Detail {
  if (stepY >= 80 && stepX >= 240) return "cards";
  return stepY >= 18 && stepX >= 110 ? "titles" : "dots";
}

export const screenX = (camera: Camera, x: number): number => x * camera.stepX - camera.left;
export const screenY = (camera: Camera, y: number): number => y * camera.stepY - camera.top;

const between = (low: number, value: number, high: number) => Math.max(low, Math.min(value, high));

/** Brings part of the plane into the window, as large as it goes. */
export function fitted(
  bounds: { x0: number; y0: number; x1: number; y1: number },
  window: Extent,
  most: { stepX: number; stepY: number } = { stepX: 240, stepY: 40 },
): Camera {
  const columns = bounds.x1 - bounds.x0 + TAIL;
  const rows = bounds.y1 - bounds.y0 + 1;
  const stepX = between(STEP_MIN, (window.width - 2 * MARGIN) / columns, most.stepX);
  const stepY = between(STEP_MIN, (window.height - 2 * MARGIN) / rows, most.stepY);
  const middle = ((bounds.y0 + bounds.y1) / 2) * stepY;
  return { stepX, stepY, left: bounds.x0 * stepX - MARGIN, top: middle - window.height / 2 };
}

/** Nearer or farther; what is under the point stays there. */
export function zoomed(camera: Camera, factor: number, at: { x: number; y: number }): Camera {
  const stepX = between(STEP_MIN, camera.stepX * factor, STEP_X_MAX);
  const stepY = between(STEP_MIN, camera.stepY * factor, STEP_Y_MAX);
  return {
    stepX,
    stepY,
    left: ((camera.left + at.x) / camera.stepX) * stepX - at.x,
    top: ((camera.top + at.y) / camera.stepY) * stepY - at.y,
  };
}

/** Moves only as far as it takes to see a point with some room around it. */
export function withInSight(camera: Camera, x: number, y: number, window: Extent): Camera {
  const room = { x: Math.min(160, window.width / 4), y: Math.min(60, window.height / 4) };
  const [px, py] = [screenX(camera, x), screenY(camera, y)];
  const tail = Math.min(camera.stepX, window.width / 2);
  let { left, top } = camera;
  if (px < room.x) left += px - room.x;
  else if (px + tail > window.width - 16) left += px + tail - window.width + 16;
  if (py < room.y) top += py - room.y;
  else if (py > window.height - room.y) top += py - window.height + room.y;
  return { ...camera, left, top };
}
