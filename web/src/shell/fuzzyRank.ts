// Finds by the letters typed: whole words first, then beginnings of words, then letters in order.
export function ranked<T>(text: string, entries: readonly T[], labelOf: (entry: T) => string): T[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [...entries];
  return entries
    .map((entry, index) => ({ entry, index, score: score(wanted, labelOf(entry).toLowerCase()) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .map(({ entry }) => entry);
}

function score(wanted: string, label: string): number {
  if (label.startsWith(wanted)) return 100;
  const words = wanted.split(/\s+/);
  if (words.every((word) => label.split(/[\s:…]+/).some((part) => part.startsWith(word)))) return 80;
  if (label.includes(wanted)) return 60;
  let from = 0;
  for (const letter of wanted.replace(/\s+/g, "")) {
    from = label.indexOf(letter, from) + 1;
    if (from === 0) return 0;
  }
  return 20;
}
