// Turns a file into a content block: uploads its bytes and measures its size or duration.
import { upload } from "../../api/client";
import { Problem as Refusal } from "../../api/problem";
import type { Block } from "../../state/content";

export async function attach(file: File): Promise<Block> {
  if (file.type.startsWith("image/")) {
    const { width, height } = await measured(file);
    const blob = await upload(file);
    return { type: "image", ref: blob.itemId, mimeType: file.type, width, height, altText: file.name };
  }
  if (file.type.startsWith("audio/")) {
    const durationMs = await lengthOf(file);
    const blob = await upload(file);
    return { type: "audio", ref: blob.itemId, mimeType: file.type, durationMs };
  }
  throw new Refusal({
    status: -1,
    code: "page",
    message: `${file.name} is neither an image nor audio. Paste text into the message instead.`,
  });
}

async function measured(file: File): Promise<{ width: number; height: number }> {
  const bitmap = await createImageBitmap(file);
  const { width, height } = bitmap;
  bitmap.close();
  return { width, height };
}

function lengthOf(file: File): Promise<number> {
  return new Promise((resolve) => {
    const url = URL.createObjectURL(file);
    const audio = new Audio(url);
    const done = (milliseconds: number) => {
      URL.revokeObjectURL(url);
      resolve(milliseconds);
    };
    audio.onloadedmetadata = () =>
      done(Number.isFinite(audio.duration) ? Math.round(audio.duration * 1000) : 0);
    audio.onerror = () => done(0);
  });
}
