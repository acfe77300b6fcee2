// A small conversation to look around in: an edit, alternatives, a bookmark and a remark.
import { call, type Schemas } from "../../api/client";

type Grown = Schemas["Mutated_GrownView"];

export async function sample(): Promise<string> {
  const processes = await call("get", "/api/v1/processes", { query: { enabled: true } });
  const chat = processes.data.find(({ name }) => name === "Chat") ?? processes.data[0];
  const { id } = await call("post", "/api/v1/conversations", {
    body: {
      title: "Sample: the heron watch",
      systemContext: "You help a bird watcher. Answer from the notes.",
    },
  });
  const say = async (text: string, parentAlternativeId?: string) =>
    (
      (await call("post", "/api/v1/conversations/{id}/turns", {
        params: { id },
        body: { text, parentAlternativeId },
      })) as Grown
    ).node;
  const answer = async (parentAlternativeId: string, samples = 1) => {
    if (!chat) return undefined;
    const begun = await call("post", "/api/v1/conversations/{id}/turns", {
      params: { id },
      body: { parentAlternativeId, speaker: "agent", processIds: [chat.id], samples },
    });
    const made = "answers" in begun ? begun.answers : [];
    await Promise.all(made.map(({ node }) => finished(node.id)));
    return made[0]?.node;
  };
  const first = await say(
    "At dawn four herons stood in the shallow water. At noon two herons flew to the reeds. How many herons stood in the water?",
  );
  const counted = await answer(first.id, 2);
  if (!counted) return id;
  const second = await say("And how many flew to the reeds?", counted.id);
  await answer(second.id);
  await call("put", "/api/v1/nodes/{id}/marks", {
    params: { id: counted.id },
    body: { bookmarked: true, tag: ["heron"] },
  });
  await call("post", "/api/v1/nodes/{id}/annotations", {
    params: { id: first.id },
    body: { text: "Written down at the lake, 6:40." },
  });
  const edited = (await call("post", "/api/v1/conversations/{id}/turns/{turnId}/alternatives", {
    params: { id, turnId: second.turnId ?? "" },
    body: { text: "And how many herons flew to the reeds at noon?", editedFrom: second.id, makeActive: true },
  })) as Grown;
  await answer(edited.node.id);
  return id;
}

const LOOKS_MAX = 100;
async function finished(id: string): Promise<void> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const node = await call("get", "/api/v1/nodes/{id}", { params: { id } });
    if (node.status !== "pending") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
