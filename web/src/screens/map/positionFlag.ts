// "You are here".
import { screenX, screenY, type Detail } from "./camera";
import type { MapDrawing } from "./paint";

/** A flag at the node one stands at; at the edge, with an arrow, when it is out of sight. */
export function drawHere(context: CanvasRenderingContext2D, drawn: MapDrawing, detail: Detail): void {
  const { scene, camera, window, inks, font } = drawn;
  if (scene.here < 0) return;
  const x = screenX(camera, scene.layout.x[scene.here] ?? 0);
  const nodeY = screenY(camera, scene.layout.y[scene.here] ?? 0);
  const isSeen = x >= 0 && x <= window.width && nodeY >= 0 && nodeY <= window.height;
  const arrow = x < 0 ? "← " : x > window.width ? "→ " : nodeY < 0 ? "↑ " : "↓ ";
  const words = isSeen ? "You are here" : `${arrow}You are here`;
  context.font = `600 11px ${font}`;
  const width = context.measureText(words).width + 12;
  const left = Math.max(4, Math.min(x - 8, window.width - width - 4));
  const above = nodeY - (detail === "cards" ? 48 : 17);
  const y = Math.max(13, Math.min(above, window.height - 13));
  context.fillStyle = inks.accent;
  context.beginPath();
  context.roundRect(left, y - 9, width, 17, 4);
  if (isSeen) {
    context.moveTo(x - 4, y + 8);
    context.lineTo(x + 4, y + 8);
    context.lineTo(x, y + 12);
  }
  context.fill();
  context.fillStyle = inks.bg;
  context.fillText(words, left + 6, y);
}
