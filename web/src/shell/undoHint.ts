// How what was just done is taken back, said where it was done.
import { shownKeyOf } from "../keys/registry.svelte";

/** What was done, and the key that takes it back, if there is one. */
export function withUndo(words: string): string {
  const key = shownKeyOf("everywhere.undo");
  return key ? `${words} Press ${key} to undo.` : `${words} You can undo it.`;
}
