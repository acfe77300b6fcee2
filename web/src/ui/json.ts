// JSON that somebody types: what it says, or what is wrong with it.

export const shownJson = (value: unknown): string => JSON.stringify(value ?? {}, null, 2);

export function readJson<T>(text: string, read: (given: unknown) => T): { value?: T; fault?: string } {
  try {
    return { value: read(JSON.parse(text)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { fault: error instanceof SyntaxError ? `Invalid JSON: ${why}` : why };
  }
}

export function anObject(given: unknown): Record<string, unknown> {
  if (given === null || typeof given !== "object" || Array.isArray(given))
    throw new Error("Must be an object: { … }");
  return given as Record<string, unknown>;
}

/** Texts that stand on a screen and cannot be read yet, by where they stand. */
export type Unread = Record<string, string | undefined>;
export const hasUnread = (unread: Unread | undefined): boolean =>
  Object.values(unread ?? {}).some((text) => text !== undefined);
