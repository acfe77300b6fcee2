// Words and colours of how things stand.
import type { IconName } from "../../ui/icons";

export type Kind = "plain" | "accent" | "success" | "warning" | "danger" | "note";
interface Look {
  kind: Kind;
  icon?: IconName;
  words: string;
}
const LOOKS: Record<string, Look> = {
  running: { kind: "accent", icon: "run", words: "running" },
  waitsForYou: { kind: "warning", icon: "person", words: "waiting for you" },
  paused: { kind: "note", icon: "pause", words: "paused" },
  held: { kind: "plain", icon: "clock", words: "waiting: paused" },
  completed: { kind: "success", icon: "check", words: "completed" },
  failed: { kind: "danger", icon: "warning", words: "failed" },
  cancelled: { kind: "plain", icon: "stop", words: "cancelled" },
  waiting: { kind: "plain", icon: "clock", words: "waiting" },
  calling: { kind: "accent", icon: "run", words: "running" },
  asking: { kind: "warning", icon: "person", words: "waiting for a person" },
  conversing: { kind: "accent", icon: "model", words: "running" },
  replaced: { kind: "note", icon: "fork", words: "replaced by fallback" },
  unknown: { kind: "warning", icon: "warning", words: "outcome unknown" },
  done: { kind: "success", icon: "check", words: "completed" },
  skipped: { kind: "plain", words: "skipped" },
  success: { kind: "success", icon: "check", words: "completed" },
  error: { kind: "danger", icon: "warning", words: "failed" },
};
/** Display status of a run: a paused run still has the status running. */
export const standingOf = (run: { status: string; pausedAt?: string | null }): string =>
  run.pausedAt ? "paused" : run.status;
export const lookOf = (status: string): Look => LOOKS[status] ?? { kind: "plain", words: status };
