// Places among all that happened, as the server names them: clocks differ, these do not.

/** Whether one comes after another: by the number of a change, then by the place within it. */
export function isAfter(one: string, other: string): boolean {
  const [change = 0, within = 0] = one.split(".").map(Number);
  const [otherChange = 0, otherWithin = 0] = other.split(".").map(Number);
  return change === otherChange ? within > otherWithin : change > otherChange;
}
