// Sentences of a text that is still being said, for people who hear it.

/** How far the sentences go that have ended; a full stop within a number or a name ends none. */
export function endOfSentences(text: string): number {
  let end = 0;
  for (const { index, 0: mark } of text.matchAll(/[.!?…]+["'”’)\]]*(?=\s)|[。！？]+|\n{2,}/gu))
    end = index + mark.length;
  return end;
}
