// A drawing that is kept: moved and stretched while a new one would take too long.
import type { Camera } from "./camera";
import type { Scene } from "./scene";

export interface Picture {
  canvas: HTMLCanvasElement;
  /** From where it was seen. */
  camera: Camera;
  scene: Scene;
}

export function pictureOf(
  from: HTMLCanvasElement,
  camera: Camera,
  scene: Scene,
  before: Picture | undefined,
): Picture {
  const canvas = before?.canvas ?? document.createElement("canvas");
  Object.assign(canvas, { width: from.width, height: from.height });
  canvas.getContext("2d")?.drawImage(from, 0, 0);
  return { canvas, camera, scene };
}

export function stretch(
  context: CanvasRenderingContext2D,
  picture: Picture,
  to: Camera,
  ratio: number,
): void {
  const { canvas, camera: from } = picture;
  const [sx, sy] = [to.stepX / from.stepX, to.stepY / from.stepY];
  const [dx, dy] = [(from.left * sx - to.left) * ratio, (from.top * sy - to.top) * ratio];
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(canvas, dx, dy, canvas.width * sx, canvas.height * sy);
}
