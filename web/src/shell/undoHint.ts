// Adds the undo hint to a notice.
import { shownKeyOf } from "../keys/registry.svelte";

/** Text of a completed action and the key that undoes it, if there is one. */
export function withUndo(words: string): string {
  const key = shownKeyOf("everywhere.undo");
  return key ? `${words} Press ${key} to undo.` : `${words} You can undo it.`;
}
