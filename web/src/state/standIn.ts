// Explains in words why another process than the wanted one answers.
import type { Schemas } from "../api/client";

export interface StandIn {
  /** The process that was wanted, by name. */
  name: string;
  reason: string;
  /** The process that was wanted, if it can still be asked. */
  id?: string;
}
type ProcessSummary = Pick<Schemas["ProcessView"], "id" | "name" | "enabled" | "archived">;
type Default = Pick<Schemas["DefaultProcessView"], "chosen" | "problem">;

/** Nothing if the wanted process answers. `hint` is the process that answered last in the conversation. */
export function standInFor(
  hint: string | null | undefined,
  chosen: Default | undefined,
  list: readonly ProcessSummary[],
): StandIn | undefined {
  const isHinted = hint !== null && hint !== undefined;
  const wanted = list.find(({ id }) => id === (isHinted ? hint : chosen?.chosen?.id));
  if (isHinted && wanted && (wanted.archived || !wanted.enabled))
    return { name: wanted.name, reason: wanted.archived ? "it was deleted" : "it is disabled" };
  if (isHinted || !chosen?.problem) return undefined;
  const name = wanted?.name ?? chosen.chosen?.name ?? "Your default process";
  return { name, reason: chosen.problem, id: wanted?.enabled ? wanted.id : undefined };
}
