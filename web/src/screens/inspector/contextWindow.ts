// Sums up the model context for display.
import type { Schemas } from "../../api/client";

export type Part = Schemas["PartView"];
export type Kind = "system" | "memory" | "path" | "folded" | "other";

const KINDS: Record<string, Kind> = {
  agentPrompt: "system",
  systemContext: "system",
  instruction: "system",
  context: "memory",
  node: "path",
  folded: "folded",
  marker: "other",
};
export const KIND_LABELS: Record<Kind, string> = {
  system: "Instructions",
  memory: "Memory",
  path: "Path",
  folded: "Folded branches",
  other: "Gap markers",
};
const PART_LABELS: Record<string, string> = {
  agentPrompt: "Prompt of the actor",
  systemContext: "System instructions",
  instruction: "Instruction",
  context: "Memory",
  node: "Turn",
  folded: "Folded branch",
  marker: "Gap marker",
};
const REASONS: Record<string, string> = {
  excluded: "excluded by you",
  pruned: "pruned",
  annotation: "remark, never sent to models",
  empty: "empty message",
  onPath: "already on the path",
  originNotShown: "its source is not on the path",
  bufferMode: "disabled for this buffer",
  overBudget: "exceeds the budget",
};

const IMAGE_REASONS: Record<string, string> = {
  modelWithoutImages: "the model does not accept images",
  notAUserMessage: "models accept images in your messages only",
  bufferMode: "a buffer sends text only",
  tooLarge: "the image is too large",
  tooMany: "later images use all image slots",
  unreadable: "the image is unreadable",
};

/** Describes how the images of a part are sent; empty if it has none. */
export function imagesOf(part: Part): string[] {
  const images = part.images ?? [];
  const sent = images.filter(({ sentAs }) => sentAs === "image");
  const count = (many: number) => (many === 1 ? "1 image" : `${many} images`);
  const texts = new Map<string, number>();
  for (const { because } of images.filter(({ sentAs }) => sentAs === "text"))
    texts.set(because ?? "", (texts.get(because ?? "") ?? 0) + 1);
  return [
    ...(sent.length > 0 ? [`${count(sent.length)} sent`] : []),
    ...[...texts].map(
      ([why, many]) => `${count(many)} sent as alternative text: ${IMAGE_REASONS[why] ?? why}`,
    ),
  ];
}

export const kindOf = ({ kind }: Part): Kind => KINDS[kind] ?? "other";
export const labelOf = ({ kind }: Part): string => PART_LABELS[kind] ?? kind;

export const isPinnedPart = ({ kind, reason }: Part): boolean => kind === "node" && reason === "pinned";

/** Reason why a part is included or excluded. */
export function whyOf(part: Part): string {
  const isPinned = isPinnedPart(part);
  if (part.droppedBecause) {
    const why = REASONS[part.droppedBecause] ?? part.droppedBecause;
    return isPinned ? `pinned, but ${why}` : why;
  }
  if (isPinned) return "pinned: dropped last";
  if (part.reason) return part.reason;
  if (part.kind === "node") return "on the path to this node";
  if (part.kind === "folded") return "summary of a folded branch";
  if (part.kind === "marker") return "turns in the middle exceed the budget";
  return "always included";
}

export interface Share {
  kind: Kind;
  tokens: number;
  /** Of the budget, 0 to 100. */
  percent: number;
}

/** The stacked bar: tokens per kind of what is shown, as shares of the budget or of what is too much for it. */
export function sharesOf(parts: readonly Part[], budget: number): Share[] {
  const sums = new Map<Kind, number>();
  for (const part of parts) {
    if (part.included) sums.set(kindOf(part), (sums.get(kindOf(part)) ?? 0) + part.tokens);
  }
  const total = [...sums.values()].reduce((sum, tokens) => sum + tokens, 0);
  const whole = Math.max(budget, total, 1);
  return (Object.keys(KIND_LABELS) as Kind[])
    .filter((kind) => sums.has(kind))
    .map((kind) => ({ kind, tokens: sums.get(kind) ?? 0, percent: (100 * (sums.get(kind) ?? 0)) / whole }));
}

/** Tokens above the budget. */
export const overshoot = ({ totalTokens, budget, reserve }: Schemas["WindowView"]): number =>
  Math.max(0, totalTokens + reserve - budget);

/** The fewest turns to leave out so that the rest has room: the longest first, none that is pinned, never the last. */
export function planFor(window: Schemas["WindowView"]): Part[] {
  let over = overshoot(window);
  if (!window.overBudget || over === 0) return [];
  const turns = window.parts.filter((part) => part.included && part.kind === "node" && part.nodeId);
  const free = turns.slice(0, -1).filter((part) => !isPinnedPart(part));
  const plan: Part[] = [];
  for (const part of free.sort((one, other) => other.tokens - one.tokens)) {
    if (over <= 0) break;
    plan.push(part);
    over -= part.tokens;
  }
  return over > 0 ? [] : plan;
}
