// Two texts made into one: what both have, and at each difference the words of one or of the other.
import type { DiffPart } from "../../ui/diffParts";

export type Hunk = { kind: "same"; text: string } | { kind: "choice"; base: string; other: string };

/** Differences as choices, in their order. */
export function hunksOf(parts: readonly DiffPart[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const { value, added, removed } of parts) {
    const last = hunks.at(-1);
    if (!added && !removed) hunks.push({ kind: "same", text: value });
    else if (last?.kind === "choice" && (added ? last.other === "" : last.base === ""))
      hunks[hunks.length - 1] = added ? { ...last, other: value } : { ...last, base: value };
    else hunks.push({ kind: "choice", base: removed ? value : "", other: added ? value : "" });
  }
  return hunks;
}

/** The text that comes of it; `taken` names the choices for which the other's words are taken. */
export const mergedOf = (hunks: readonly Hunk[], taken: ReadonlySet<number>): string =>
  hunks
    .map((hunk, index) => (hunk.kind === "same" ? hunk.text : taken.has(index) ? hunk.other : hunk.base))
    .join("");
