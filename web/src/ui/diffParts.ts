// Differences as people read them: changes that only white space keeps apart are one change, and two texts that have
// hardly a word in common are one whole removal and one whole addition.
export interface DiffPart {
  value: string;
  added?: boolean;
  removed?: boolean;
}
const ALIKE_MIN = 0.2;

export function readable(parts: readonly DiffPart[]): DiffPart[] {
  const kept = parts.reduce((sum, part) => sum + (isChange(part) ? 0 : words(part.value)), 0);
  const all = parts.reduce((sum, part) => sum + words(part.value), 0);
  const isOther = all > 0 && kept / all < ALIKE_MIN;
  const found: DiffPart[] = [];
  let [removed, added] = ["", ""];
  const flush = () => {
    if (removed) found.push({ value: removed, removed: true });
    if (added) found.push({ value: added, added: true });
    [removed, added] = ["", ""];
  };
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (part.removed) removed += part.value;
    else if (part.added) added += part.value;
    else if (isOther || ((removed || added) && next && isChange(next) && part.value.trim() === "")) {
      removed += part.value;
      added += part.value;
    } else {
      flush();
      found.push(part);
    }
  }
  flush();
  return found;
}

const isChange = ({ added, removed }: DiffPart): boolean => Boolean(added || removed);
const words = (text: string): number => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
