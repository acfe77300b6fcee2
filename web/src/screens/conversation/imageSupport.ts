// Checks before a message is sent whether the answering models accept images.
import { call, type Schemas } from "../../api/client";

type Process = Schemas["ProcessView"];

/** True if the last model step of a process accepts images. */
async function acceptsImages({ steps }: Process, signal: AbortSignal): Promise<boolean> {
  for (const { toolId } of steps.toReversed()) {
    if (!toolId) continue;
    const tool = await call("get", "/api/v1/tools/{id}", { params: { id: toolId }, signal });
    if (tool.operation.type === "llm_call") return tool.acceptsImages;
  }
  return false;
}

/** The names of the processes whose models are sent the alternative text in place of an image. */
export async function withoutImages(asked: readonly Process[], signal: AbortSignal): Promise<string[]> {
  const accepted = await Promise.all(asked.map((process) => acceptsImages(process, signal)));
  return asked.filter((_, index) => !accepted[index]).map(({ name }) => name);
}

/** Text of the notice beside the attachments. */
export const wordsFor = (names: readonly string[]): string =>
  `${names.join(", ")}: the model receives the alternative text instead of images.`;
