// The signs of the map's legend and its dots.
import type { Look } from "./nodeStyle";
import type { Inks } from "./paint";

export function markShape(
  context: CanvasRenderingContext2D,
  look: Look,
  inks: Inks,
  x: number,
  y: number,
  size: number,
): void {
  context.beginPath();
  if (look.shape === "square") context.rect(x - size * 0.85, y - size * 0.85, size * 1.7, size * 1.7);
  else if (look.shape === "circle") context.arc(x, y, size, 0, 7);
  else if (look.shape === "triangle") {
    context.moveTo(x, y - size);
    context.lineTo(x + size, y + size * 0.8);
    context.lineTo(x - size, y + size * 0.8);
    context.closePath();
  } else {
    context.moveTo(x, y - size * 1.1);
    context.lineTo(x + size * 1.1, y);
    context.lineTo(x, y + size * 1.1);
    context.lineTo(x - size * 1.1, y);
    context.closePath();
  }
  context.fillStyle = look.hollow ? inks.surface : inks[look.ink];
  context.fill();
  if (look.hollow) {
    context.strokeStyle = inks[look.ink];
    context.lineWidth = 1.5;
    context.stroke();
  }
  if (look.letter && size >= 4.5) {
    const font = context.font;
    context.font = `700 ${Math.round(size * 1.6)}px sans-serif`;
    context.textAlign = "center";
    context.fillStyle = look.hollow ? inks[look.ink] : inks.surface;
    context.fillText(look.letter, x, y + 0.5);
    context.textAlign = "start";
    context.font = font;
  }
}

/** Three dots for turns that are drawn together. */
export function drawRunDot(
  context: CanvasRenderingContext2D,
  inks: Inks,
  x: number,
  y: number,
  size: number,
): void {
  context.fillStyle = inks.textFaint;
  for (const step of [-1, 0, 1]) {
    context.beginPath();
    context.arc(x + step * size * 0.9, y, Math.max(0.8, size * 0.28), 0, 7);
    context.fill();
  }
}
