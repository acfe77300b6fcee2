// What is noted beside a node: bookmark, tags, whether it is cut off or left out.
import { call, type Schemas } from "../../api/client";

type Marks = Schemas["MarksBody"];
/** What is not named stays as it is. */
const NOTHING: Marks = { bookmarked: null, excluded: null, label: null, pruned: null, tag: [], untag: [] };

/** What has this tag stays in what models are shown while there is room for anything. */
export const PINNED = "pinned";

export const mark = (id: string, changes: Partial<Marks>) =>
  call("put", "/api/v1/nodes/{id}/marks", { params: { id }, body: { ...NOTHING, ...changes } });
