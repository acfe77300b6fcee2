// Differences as people read them: changes that only white space keeps apart are one change.
export interface DiffPart {
  value: string;
  added?: boolean;
  removed?: boolean;
}
const ALIKE_MIN = 0.2;

/** True if two texts share enough words for their differences to be meaningful. */
export function areAlike(parts: readonly DiffPart[]): boolean {
  const count = (some: readonly DiffPart[]) => some.reduce((sum, { value }) => sum + words(value), 0);
  const all = count(parts);
  return all === 0 || count(parts.filter((part) => !isChange(part))) / all >= ALIKE_MIN;
}

export function readable(parts: readonly DiffPart[]): DiffPart[] {
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
    else if ((removed || added) && next && isChange(next) && part.value.trim() === "") {
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
