// Values of a run that may be edited before it is begun again: texts as they are, anything else as JSON.
export interface EditedValue {
  name: string;
  was: unknown;
  text: string;
  /** Index of the step that output it, from 0; -1 for an input of the run. */
  step: number;
}

export const shownValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);

/** Parses an edited value: a text stays a text. */
function meant({ was, text }: EditedValue): unknown {
  if (text === shownValue(was)) return was;
  if (typeof was === "string") return text;
  return JSON.parse(text) as unknown;
}

export interface Changed {
  whole: Record<string, unknown>;
  /** Only the changed values. */
  only: Record<string, unknown>;
  changed: boolean;
  faults: Record<string, string>;
}
export function changedValues(values: readonly EditedValue[]): Changed {
  const found: Changed = { whole: {}, only: {}, changed: false, faults: {} };
  for (const value of values) {
    try {
      found.whole[value.name] = meant(value);
      if (value.text === shownValue(value.was)) continue;
      found.only[value.name] = found.whole[value.name];
      found.changed = true;
    } catch {
      found.faults[value.name] = "Invalid JSON: quote texts and close every bracket.";
    }
  }
  return found;
}
