// Processes on the keys 1 to 9: the chosen one, else the process at that position of the list.

export const PRESETS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;
export type Preset = (typeof PRESETS)[number];
/** Processes by their id, each under the number it was put on. */
export type Presets = Partial<Record<Preset, string>>;

/** Process of a number. A choice that cannot answer, or belongs to another user, is ignored. */
export const presetAt = <P extends { id: string }>(
  preset: Preset,
  chosen: Presets,
  usable: readonly P[],
): P | undefined => usable.find(({ id }) => id === chosen[preset]) ?? usable[PRESETS.indexOf(preset)];

/** The first number by which a process answers. */
export const presetOf = (
  id: string,
  chosen: Presets,
  usable: readonly { id: string }[],
): Preset | undefined => PRESETS.find((preset) => presetAt(preset, chosen, usable)?.id === id);
