const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "just now", "5 min ago", "3 h ago", else the day. */
export function ago(at: number, now: number): string {
  const past = now - at;
  if (past < -MINUTE) return `in ${span(-past)}`;
  if (past < MINUTE) return "just now";
  if (past < 7 * DAY) return `${span(past)} ago`;
  const day = new Date(at);
  const sameYear = day.getFullYear() === new Date(now).getFullYear();
  return day.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    year: sameYear ? undefined : "numeric",
  });
}

function span(milliseconds: number): string {
  if (milliseconds < HOUR) return `${Math.max(1, Math.floor(milliseconds / MINUTE))} min`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  return `${Math.floor(milliseconds / DAY)} d`;
}

export const exact = (at: Date): string =>
  at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
