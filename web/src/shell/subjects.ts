// Names the subjects of action history entries and links to them.
import { call } from "../api/client";
import { to } from "../routes";
import { plain, textOf } from "../state/content";
import type { Entry, RecordChange, RecordType } from "../state/operations";

export interface Subject {
  /** Nothing where there is nothing to open. */
  href?: string;
  words: string;
}
const WORDS_MAX = 80;

/** By what a subject is remembered, and how it is asked for; nothing where the entry says it all. */
export function subjectOf(entry: Entry): { key: string; ask: () => Promise<Subject> } | undefined {
  switch (entry.kind) {
    case "marked":
      return { key: entry.node, ask: () => nodeNamed(entry.node) };
    case "changed":
    case "moved":
      return { key: entry.conversation, ask: () => conversationNamed(entry.conversation) };
    case "recorded":
      return { key: `${entry.record}/${entry.version}`, ask: () => recordNamed(entry) };
    case "unlinked":
      return entry.was && linkedNode(entry.was.source);
    case "configured":
      return { key: entry.setting, ask: async () => ({ words: entry.setting }) };
    case "refused":
    case "final":
      return undefined;
  }
}

function linkedNode(source: string) {
  const id = source.split("#")[0] ?? "";
  return id.startsWith("item_") ? { key: id, ask: () => nodeNamed(id) } : undefined;
}

async function nodeNamed(id: string): Promise<Subject> {
  const node = await call("get", "/api/v1/nodes/{id}", { params: { id } });
  return {
    href: to.node(node.conversationId, node.localId),
    words: plain(textOf(node.content), WORDS_MAX) || "a turn",
  };
}

async function conversationNamed(id: string): Promise<Subject> {
  const { title } = await call("get", "/api/v1/conversations/{id}", { params: { id } });
  return { href: to.conversation(id), words: title };
}

const OPENED: Partial<Record<RecordType, (id: string) => string>> = {
  Service: (id) => to.catalog("services", id),
  Tool: (id) => to.catalog("tools", id),
  Secret: (id) => to.catalog("secrets", id),
  ServiceTemplate: (id) => to.catalog("service-templates", id),
  ToolTemplate: (id) => to.catalog("tool-templates", id),
  Process: (id) => to.process(id),
};

/** As it was called then. */
async function recordNamed({ record: id, version, type }: RecordChange): Promise<Subject> {
  const { data } = await call("get", "/api/v1/records/{id}", { params: { id }, query: { version } });
  const { name, toolId } = data as { name?: string; toolId?: string };
  if (toolId) return toolNamed(toolId);
  return { href: OPENED[type]?.(id), words: name ?? "" };
}

/** The tool may be somebody else's, or gone. */
async function toolNamed(id: string): Promise<Subject> {
  const tool = await call("get", "/api/v1/tools/{id}", { params: { id } }).catch(() => undefined);
  return tool ? { href: to.catalog("tools", id), words: tool.name } : { words: "deleted tool" };
}
