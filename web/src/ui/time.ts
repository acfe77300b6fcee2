const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// Made once: making one takes as long as drawing a turn.
const DAY_FORMAT = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const YEAR_FORMAT = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const EXACT_FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** "just now", "5 min ago", "3 h ago", else the day. */
export function ago(at: number, now: number): string {
  const past = now - at;
  if (past < -MINUTE) return `in ${span(-past)}`;
  if (past < MINUTE) return "just now";
  if (past < 7 * DAY) return `${span(past)} ago`;
  const day = new Date(at);
  const sameYear = day.getFullYear() === new Date(now).getFullYear();
  return (sameYear ? DAY_FORMAT : YEAR_FORMAT).format(day);
}

function span(milliseconds: number): string {
  if (milliseconds < HOUR) return `${Math.max(1, Math.floor(milliseconds / MINUTE))} min`;
  if (milliseconds < DAY) return `${Math.floor(milliseconds / HOUR)} h`;
  return `${Math.floor(milliseconds / DAY)} d`;
}

export const exact = (at: Date): string => EXACT_FORMAT.format(at);
