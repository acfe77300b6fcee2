// Describes a generation in a few words: usage, cost and tool calls.
import type { Schemas } from "../api/client";
import { costWords } from "./cost";

export type Generation = Schemas["GenerationView"];
export type GenerationCall = Schemas["MadeCallView"];

/** The calls people want to see: not the model's own answers, nor what every process asks of Skein first. */
export const shownCalls = ({ calls }: Generation): GenerationCall[] =>
  calls.filter(
    ({ operation, isOwn, caller }) => operation !== "llm_call" && !(isOwn && caller === "process"),
  );

/** The models that answered, as their providers name them. */
export const modelsOf = ({ calls }: Generation): string[] => [
  ...new Set(calls.flatMap(({ model, status }) => (model && status === "success" ? [model] : []))),
];

/** The calls in which a model thought aloud before it answered. */
export const thoughtIn = ({ calls }: Generation): GenerationCall[] =>
  calls.filter(({ reasoningTokens, rawResponseId }) => reasoningTokens && rawResponseId);

/** Number of reasoning tokens; "about" if it is an estimate. */
export function reasoningWords({ reasoningTokens, reasoningIsEstimate }: GenerationCall): string {
  const counted = `${(reasoningTokens ?? 0).toLocaleString("en-GB")} ${reasoningTokens === 1 ? "token" : "tokens"}`;
  return reasoningIsEstimate ? `about ${counted}` : counted;
}

const STATUS_WORDS: Record<string, string> = {
  success: "completed",
  error: "failed",
  cancelled: "cancelled",
  unknown: "outcome unknown",
};
export const callStatus = ({ status }: GenerationCall): string =>
  status ? (STATUS_WORDS[status] ?? status) : "running";

export const tokensOf = ({ inputTokens, outputTokens }: Generation): number | undefined =>
  inputTokens == null && outputTokens == null ? undefined : (inputTokens ?? 0) + (outputTokens ?? 0);

/** "1,204 tokens · 0.0042 USD"; what is not known is left out. */
export function usedWords(generation: Generation): string {
  const tokens = tokensOf(generation);
  const told = tokens === undefined ? [] : [`${tokens.toLocaleString("en-GB")} tokens`];
  const cost = costWords(generation.cost);
  return [...told, ...(cost === undefined ? [] : [cost])].join(" · ");
}

export function usedInFull({ inputTokens, outputTokens, calls }: Generation): string {
  const told = [
    inputTokens == null ? "" : `${inputTokens.toLocaleString("en-GB")} input tokens`,
    outputTokens == null ? "" : `${outputTokens.toLocaleString("en-GB")} written`,
    `${calls.length} ${calls.length === 1 ? "call" : "calls"}`,
  ];
  return `${told.filter(Boolean).join(", ")}. Opens the run.`;
}
