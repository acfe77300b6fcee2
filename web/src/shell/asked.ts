// Says at once, on whatever screen, that somebody waits for a decision: a run stands still until then.
import { call } from "../api/client";
import { onTold } from "../api/events";
import { announcer } from "./announcer.svelte";

async function wordsOf(id: string): Promise<string> {
  const { asked, processName } = await call("get", "/api/v1/reviews/{id}", { params: { id } });
  const { toolId, prompt } = asked as { toolId?: string; prompt?: string };
  if (toolId === undefined) return `${processName} asks: ${prompt ?? "a question for you"}`;
  const tool = await call("get", "/api/v1/tools/{id}", { params: { id: toolId } }).catch(() => undefined);
  return `${tool?.name ?? "A tool"} needs approval, asked by ${processName}`;
}

export function announceReviews(): () => void {
  return onTold(({ event, subject }) => {
    if (event !== "review.requested") return;
    wordsOf(subject).then(
      (words) => announcer.interrupt(words),
      () => announcer.interrupt("Something new waits for your decision"),
    );
  });
}
