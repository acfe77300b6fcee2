// Says at once, on whatever screen, that somebody waits for a decision: a run stands still until then.
import { call } from "../api/client";
import { onServerEvent } from "../api/events";
import { announcer } from "./announcer.svelte";

/** Nothing where this person asked somebody else themselves. */
async function wordsOf(id: string, isDelegated: boolean): Promise<string | undefined> {
  const review = await call("get", "/api/v1/reviews/{id}", { params: { id } });
  const { asked, processName, askedBy } = review;
  if (isDelegated) return askedBy ? `${askedBy.name} asks you to decide for ${processName}` : undefined;
  const { toolId, prompt } = asked as { toolId?: string; prompt?: string };
  if (toolId === undefined) return `${processName} asks: ${prompt ?? "a question for you"}`;
  const tool = await call("get", "/api/v1/tools/{id}", { params: { id: toolId } }).catch(() => undefined);
  return `${tool?.name ?? "A tool"} needs approval, asked by ${processName}`;
}

export function announceReviews(): () => void {
  return onServerEvent(({ event, subject }) => {
    if (event !== "review.requested" && event !== "review.delegated") return;
    wordsOf(subject, event === "review.delegated").then(
      (words) => words !== undefined && announcer.interrupt(words),
      () => announcer.interrupt("A new review is waiting for you"),
    );
  });
}
