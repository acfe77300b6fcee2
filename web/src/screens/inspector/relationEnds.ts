// Describes the end of a relation: text and position of a node, or the type of anything else.
import { call } from "../../api/client";
import { briefOf, textOf } from "./content";

const WORDS_MAX = 80;
export interface RelationEnd {
  id: string;
  /** Of a node: the one it is, or is a part of. */
  node?: string;
  conversation?: string;
  words: string;
}

export async function endOf(id: string, signal?: AbortSignal): Promise<RelationEnd> {
  const item = id.split("#")[0] ?? id;
  if (!item.startsWith("item_")) return { id, words: "" };
  const { _type: type } = await call("get", "/api/v1/items/{id}", { params: { id: item }, signal });
  if (type !== "Node") return { id, words: type.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase() };
  const said = await call("get", "/api/v1/nodes/{id}", { params: { id: item }, signal });
  return {
    id,
    node: said.id,
    conversation: said.conversationId,
    words: briefOf(textOf(said.content), WORDS_MAX),
  };
}
