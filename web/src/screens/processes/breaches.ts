// Maps a broken rule to its step and field, which the server names only in words.
import type { Breach, Definition } from "./definition";

export type Part =
  | "name"
  | "initialContext"
  | "steps"
  | "outputTemplate"
  | "tokenBudget"
  | "maxRecursionDepth"
  | "id"
  | "target"
  | "inputs"
  | "variable"
  | "condition"
  | "order"
  | "timeout"
  | "review"
  | "retry"
  | "fallback"
  | "abort"
  | "offers"
  | "budget";

export interface LocatedBreach {
  rule: string;
  problem: string;
  remedy: string;
  /** From 0; nothing if it is about the process itself. */
  step?: number;
  part: Part;
}

/** Assigns each breach to its field; one that names several steps is listed at each. */
export function placed(breaches: readonly Breach[], definition: Definition): LocatedBreach[] {
  return breaches.flatMap((breach) => {
    const parts = /^step \d/i.test(breach.problem)
      ? breach.problem.split(/;\s+(?=step \d)/i)
      : [breach.problem];
    return parts.map((problem) => {
      const step = stepOf(problem, definition);
      return { ...breach, problem, step, part: partOf(breach.rule, problem, step !== undefined) };
    });
  });
}

function stepOf(problem: string, definition: Definition): number | undefined {
  const number = /^(?:the )?step (\d+)\b/i.exec(problem)?.[1];
  if (number !== undefined) return within(Number(number) - 1, definition);
  const named = /^the parallel steps "([^"]+)"/.exec(problem)?.[1];
  if (named === undefined) return undefined;
  return within(
    definition.steps.findIndex((step) => step.id === named),
    definition,
  );
}
const within = (at: number, { steps }: Definition) => (at >= 0 && at < steps.length ? at : undefined);

const WORDS: [RegExp, Part][] = [
  [/\bfallback\b/, "fallback"],
  [/\babortWhen\b/, "abort"],
  [/\bretry\b/, "retry"],
  [/toolLimits|number of tools|\boffer/, "offers"],
  [/\breview\b|onExpire|expiresAfter/, "review"],
  [/execution\.timeout/, "timeout"],
  [/output\.tokenBudget/, "budget"],
  [/output variable|cannot name a variable/, "variable"],
  [/condition/, "condition"],
];

const RULES: Record<string, [ofStep: Part, ofProcess: Part]> = {
  "BR-PROCESS-001": ["id", "steps"],
  "BR-PROCESS-002": ["order", "steps"],
  "BR-PROCESS-003": ["order", "steps"],
  "BR-PROCESS-004": ["order", "steps"],
  "BR-PROCESS-005": ["variable", "outputTemplate"],
  "BR-PROCESS-006": ["budget", "tokenBudget"],
  "BR-PROCESS-007": ["target", "maxRecursionDepth"],
  "BR-PROCESS-009": ["target", "steps"],
  "BR-PROCESS-011": ["target", "steps"],
  "BR-STEP-001": ["inputs", "steps"],
  "BR-STEP-002": ["inputs", "initialContext"],
  "BR-STEP-003": ["condition", "steps"],
  "BR-STEP-004": ["retry", "steps"],
  "BR-STEP-005": ["timeout", "steps"],
  "BR-STEP-006": ["review", "steps"],
  "BR-STEP-007": ["target", "steps"],
};

function partOf(rule: string, problem: string, isOfStep: boolean): Part {
  if (!isOfStep) {
    if (/outputTemplate/.test(problem)) return "outputTemplate";
    if (/initialContext/.test(problem)) return "initialContext";
    return RULES[rule]?.[1] ?? "steps";
  }
  const worded = WORDS.find(([words]) => words.test(problem));
  return worded?.[1] ?? RULES[rule]?.[0] ?? "target";
}
