// Compares event positions of the server: clocks differ, positions do not.

/** True if one position comes after another: by change number, then by position within the change. */
export function isAfter(one: string, other: string): boolean {
  const [change = 0, within = 0] = one.split(".").map(Number);
  const [otherChange = 0, otherWithin = 0] = other.split(".").map(Number);
  return change === otherChange ? within > otherWithin : change > otherChange;
}
