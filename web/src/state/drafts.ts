// Keeps typed text until the server has it: no error, reload or sign-out loses it.
import { writeStored, readStored, storedNames } from "./browserStorage";

const PREFIX = "draft.";
const SAVE_WAIT_MS = 250;
const waiting = new Map<string, { value: unknown; timer: ReturnType<typeof setTimeout> }>();

/** The draft of a place: `conversation/<id>`, `edit/<node>`, `process/<id>`. */
export const draft = <T>(place: string, otherwise: T): T =>
  waiting.has(place) ? (waiting.get(place)?.value as T) : readStored<T>(PREFIX + place, otherwise);

/** Keeps what was typed. Typing does not wait for it. */
export function keepDraft(place: string, value: unknown): void {
  clearTimeout(waiting.get(place)?.timer);
  const timer = setTimeout(() => write(place), SAVE_WAIT_MS);
  waiting.set(place, { value, timer });
}

/** The server has it: nothing is left to keep. */
export function dropDraft(place: string): void {
  clearTimeout(waiting.get(place)?.timer);
  waiting.delete(place);
  writeStored(PREFIX + place, undefined);
}

export const draftPlaces = (): string[] => storedNames(PREFIX).map((name) => name.slice(PREFIX.length));

function write(place: string): void {
  const held = waiting.get(place);
  if (!held) return;
  waiting.delete(place);
  clearTimeout(held.timer);
  writeStored(PREFIX + place, held.value);
}

/** Before the page goes away. */
export function writeDrafts(): void {
  for (const place of [...waiting.keys()]) write(place);
}
if (typeof addEventListener !== "undefined") addEventListener("pagehide", writeDrafts);
