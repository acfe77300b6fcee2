import { call } from "../api/client";
import { asProblem } from "../api/problem";
import { router } from "../router.svelte";
import { to } from "../routes";
import { project } from "../state/project.svelte";
import { announcer } from "./announcer.svelte";

/** Begins a conversation in the project at hand and goes there. */
export async function newConversation(more: { title?: string; systemContext?: string } = {}): Promise<void> {
  try {
    const made = await call("post", "/api/v1/conversations", { body: { projectId: project.id, ...more } });
    router.go(to.conversation(made.id));
  } catch (error) {
    announcer.interrupt(asProblem(error).message);
    throw error;
  }
}
