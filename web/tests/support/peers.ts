// Servers written by others, from the tests' Python environment (scripts/setup.sh), each on a port of its own choice.
import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Started } from "./process";

/** They load hundreds of modules before they listen. */
const START_MS = 180_000;

const installed = (name: string): string =>
  join(process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? "", ".cache"), "skein/venv/bin", name);

export interface Peer {
  endpoint: string;
  host: string;
  port: number;
  stop: () => Promise<void>;
}

function peer(address: string, stop: () => Promise<void>): Peer {
  const { hostname, port } = new URL(address);
  return { endpoint: address, host: hostname, port: Number(port), stop };
}

/** An HTTP service that shows what it was sent. */
export async function httpbin(): Promise<Peer> {
  const program = Started.of(installed("flask"), [
    ...["--app", "httpbin:app", "run", "--host", "127.0.0.1", "--port", "0"],
  ]);
  return peer(await program.line(/Running on (http:\S+)/, START_MS), () => program.stop());
}

export const LITELLM = {
  model: "mock",
  answer: "The launch moved to 12 March. Grüße aus Zürich!",
  key: "sk-skein-test-0123456789abcdef0123456789abcdef",
};

/** An OpenAI-compatible server that answers everything the same and asks nobody. */
export async function litellm(): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), "skein-litellm-"));
  const config = join(folder, "config.yaml");
  await writeFile(
    config,
    `model_list:
  - model_name: ${LITELLM.model}
    litellm_params:
      model: openai/${LITELLM.model}
      api_key: none
      mock_response: "${LITELLM.answer}"
general_settings:
  master_key: ${LITELLM.key}
`,
  );
  const program = Started.of(
    installed("litellm"),
    ["--host", "127.0.0.1", "--port", "0", "--telemetry", "False", "--config", config],
    { LITELLM_LOCAL_MODEL_COST_MAP: "True" },
  );
  const address = await program.line(/Uvicorn running on (http:\S+)/, START_MS);
  return peer(address, async () => {
    await program.stop();
    await rm(folder, { recursive: true, force: true });
  });
}
