// Relations are read from one side at a time; people want to know what meets at a thing.
import { all, call, type Schemas } from "../api/client";

export type Relation = Schemas["RelationView"];
const SIDE_MAX = 100;

/** Relations of a record, from either end. */
export async function relationsOf(of: string, signal?: AbortSignal): Promise<Relation[]> {
  const sides = await Promise.all(
    (["source", "target"] as const).map((side) =>
      all((cursor) => call("get", "/api/v1/relations", { query: { of, side, cursor }, signal }), SIDE_MAX),
    ),
  );
  return [...new Map(sides.flat().map((relation) => [relation.id, relation])).values()];
}
