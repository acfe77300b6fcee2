// Marks of a node: bookmark, tags, pruned and excluded.
import { call, type Schemas } from "../../api/client";

type Marks = Schemas["MarksBody"];
/** Marks that are not named do not change. */
const NOTHING: Marks = { bookmarked: null, excluded: null, label: null, pruned: null, tag: [], untag: [] };

/** A node with this tag is dropped from the context last. */
export const PINNED = "pinned";

export const mark = (id: string, changes: Partial<Marks>) =>
  call("put", "/api/v1/nodes/{id}/marks", { params: { id }, body: { ...NOTHING, ...changes } });
