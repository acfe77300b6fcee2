// Regenerates the answers below a change in order. Messages of people between them are copied unchanged; all previous
// versions are kept.
import { call, type Schemas } from "../../api/client";
import { asProblem, Problem } from "../../api/problem";
import { tokensOf } from "../../state/generation";
import { fetchGenerations, summed } from "../../state/cost";
import { requestAlternative } from "../../state/conversationActions";
import type { Conversation, Node } from "../../state/conversation.svelte";
import type { ShownTurn } from "../../state/tree";

export type Step =
  | { kind: "answer"; turn: string; node: string; process: string }
  | { kind: "said"; turn: string; node: string };

/** Steps from the first stale answer to the end of the path; they end where the process is unknown. */
export function regenerationSteps(
  shown: readonly ShownTurn[],
  first: number,
  authorOf: (node: string) => string | undefined,
  processOf: (node: string) => string | undefined,
): Step[] {
  const steps: Step[] = [];
  for (const { turn, node } of shown.slice(Math.max(0, first))) {
    const author = authorOf(node);
    const process = processOf(node);
    if (author !== "human" && author !== undefined && process)
      steps.push({ kind: "answer", turn, node, process });
    else if (author === "human") steps.push({ kind: "said", turn, node });
    else break;
  }
  // A last message of a person is not copied: no stale answer follows it.
  while (steps.at(-1)?.kind === "said") steps.pop();
  return steps;
}

export interface ExpectedUsage {
  tokens: number;
  owed: Map<string, number>;
  /** Answers whose cost is not known. */
  unknown: number;
}
/** Usage of the previous answers, as an estimate for the new ones. */
export async function expectedUsage(steps: readonly Step[]): Promise<ExpectedUsage> {
  const nodes = steps.filter(({ kind }) => kind === "answer").map(({ node }) => node);
  const generations = await fetchGenerations(nodes);
  const made = nodes.map((node) => generations.get(node));
  const tokens = made.reduce((sum, generation) => sum + ((generation && tokensOf(generation)) ?? 0), 0);
  return { tokens, ...summed(made.map((generation) => generation?.cost)) };
}

export class Regeneration {
  done = $state(0);
  total = $state(0);
  running = $state(false);
  problem = $state.raw<Problem>();
  #stopped = false;

  stop(): void {
    this.#stopped = true;
  }

  /** Makes the answers; gives back whether all of them came. */
  async run(conversation: Conversation, above: string, steps: readonly Step[]): Promise<boolean> {
    Object.assign(this, { done: 0, total: steps.length, running: true, problem: undefined });
    this.#stopped = false;
    let parent = above;
    try {
      for (const step of steps) {
        if (this.#stopped) return false;
        parent =
          step.kind === "answer"
            ? await answered(conversation, step.turn, parent, step.process)
            : await saidAgain(conversation, step.turn, parent, step.node);
        this.done += 1;
      }
      return true;
    } catch (error) {
      this.problem = asProblem(error);
      return false;
    } finally {
      this.running = false;
    }
  }
}

async function answered(conversation: Conversation, turn: string, parent: string, process: string) {
  const before = new Set(conversation.tree.turns.get(turn)?.alternatives);
  await requestAlternative(conversation, turn, parent, [process], 1);
  const made = conversation.tree.turns.get(turn)?.alternatives.find((one) => !before.has(one));
  if (!made) throw new Problem({ status: 0, code: "no_answer", message: "No answer was started." });
  const node = await conversation.settled(made);
  if (node?.status !== "complete")
    throw new Problem({
      status: 0,
      code: "no_answer",
      message: "An answer failed. The answers after it were not regenerated.",
    });
  return made;
}

async function saidAgain(conversation: Conversation, turnId: string, parent: string, node: string) {
  const before: Node | undefined = conversation.bodies.get(node) ?? (await conversation.fetch(node));
  const { node: said } = (await call("post", "/api/v1/conversations/{id}/turns/{turnId}/alternatives", {
    params: { id: conversation.id, turnId },
    body: { parentAlternativeId: parent, content: before?.content as never, makeActive: true },
  })) as Schemas["Mutated_GrownView"];
  conversation.take(said);
  conversation.turnTo(said.id);
  return said.id;
}
