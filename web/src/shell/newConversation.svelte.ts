// Begins conversations, from any screen; the shell says when that was refused.
import { call } from "../api/client";
import { asProblem, type Problem } from "../api/problem";
import { router } from "../router.svelte";
import { to } from "../routes";
import { project } from "../state/project.svelte";

class Refused {
  problem = $state.raw<Problem>();
}
export const refused = new Refused();

/** Begins a conversation in the project at hand and goes there. */
export async function newConversation(): Promise<void> {
  refused.problem = undefined;
  const onward = router.onward();
  try {
    const made = await call("post", "/api/v1/conversations", { body: { projectId: project.id } });
    onward(to.conversation(made.id));
  } catch (error) {
    refused.problem = asProblem(error);
  }
}
