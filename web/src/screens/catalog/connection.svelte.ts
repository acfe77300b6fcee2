// Connecting a model, step by step: what was made stays known, so that trying again changes it and makes no second one.
import { all, call } from "../../api/client";
import { cancel } from "../../api/operation";
import { processes } from "../../state/processes.svelte";
import { catalog } from "./catalog.svelte";
import { tryTool, type Outcome } from "./testCall";
import { isLoopback, type HostPort } from "./endpoint";
import type { Tool } from "./kinds";
import { chatAmong, chatTool, freeName, processLike, type Provider } from "./modelConnection";

export interface ConnectionRequest {
  provider: Provider;
  address: string;
  at: HostPort;
  model: string;
  name: string;
  /** A new key, or a secret that is there. */
  key: string;
  secretId: string;
  allow: boolean;
}
export interface Step {
  words: string;
  state: "running" | "done" | "failed";
}
const QUESTION = "Say hello in five words.";

export class Connection {
  steps = $state<Step[]>([]);
  busy = $state(false);
  error = $state.raw<unknown>();
  outcome = $state.raw<Outcome>();
  tool = $state.raw<Tool>();
  process = $state.raw<{ id: string; name: string }>();
  /** The call under way; it can be cancelled. */
  operation = $state<string>();
  #made: { endpoint?: string; secret?: string; service?: { id: string; from: string } } = {};

  get hasMade(): boolean {
    return Boolean(this.tool || this.#made.secret || this.#made.service);
  }

  async connect(asked: ConnectionRequest): Promise<void> {
    this.busy = true;
    this.steps = [];
    this.error = this.outcome = undefined;
    try {
      if (asked.allow && isLoopback(asked.at)) await this.#allow(asked.at);
      const secretId = await this.#secret(asked);
      const serviceId = await this.#service(asked);
      const tool = await this.#tool(asked, serviceId, secretId);
      this.outcome = await this.#step(`Asking ${asked.model} to say hello`, () =>
        tryTool(
          tool.id,
          { messages: [{ role: "user", content: QUESTION }] },
          { begun: (id) => (this.operation = id) },
        ),
      );
      const last = this.steps.at(-1);
      if (last && !this.outcome.ok) last.state = "failed";
      await catalog.refresh("tools");
      await processes.refresh();
      // The first model that is connected answers in new conversations.
      if (this.outcome.ok && processes.default?.adoptsNext)
        await this.#step("Creating its process", () => this.#answering(asked.name.trim() || asked.model));
    } catch (thrown) {
      this.error = thrown;
    } finally {
      this.operation = undefined;
      this.busy = false;
    }
  }
  /** Waits no longer for the model; what was made stays. */
  async cancel(): Promise<void> {
    if (this.operation === undefined) return;
    try {
      await cancel(this.operation);
    } catch (thrown) {
      this.error = thrown;
    }
  }

  /** A process like Chat that answers with the new tool. */
  async useInChat(name: string): Promise<void> {
    this.busy = true;
    this.error = undefined;
    try {
      await this.#answering(name);
    } catch (thrown) {
      this.error = thrown;
    } finally {
      this.busy = false;
    }
  }

  /** Lets it answer in new conversations, in place of the default. */
  async makeDefault(): Promise<void> {
    this.busy = true;
    this.error = undefined;
    try {
      await processes.choose(this.process?.id ?? null);
    } catch (thrown) {
      this.error = thrown;
    } finally {
      this.busy = false;
    }
  }

  async #answering(name: string): Promise<void> {
    const tool = this.tool;
    if (!tool || this.process) return;
    const listed = await all((cursor) => call("get", "/api/v1/processes", { query: { cursor } }));
    const answers = (id: string) =>
      catalog.tools.find((one) => one.id === id)?.operation.messagesFrom !== undefined;
    const chat = chatAmong(listed, answers);
    if (!chat) throw new Error("no process like Chat exists to copy; create one under Processes");
    const free = freeName(
      `Chat with ${name}`.slice(0, 96),
      listed.map((one) => one.name),
    );
    const made = await call("post", "/api/v1/processes", {
      body: processLike(chat, answers, free, tool.id),
    });
    // A conversation that is begun with it finds it in the list, and its being the default.
    await processes.refresh();
    this.process = made;
  }

  /** Takes back everything that was made here. */
  async takeBack(): Promise<void> {
    this.busy = true;
    this.error = undefined;
    try {
      if (this.tool) await call("delete", "/api/v1/tools/{id}", { params: { id: this.tool.id } });
      this.tool = undefined;
      const { service, secret, endpoint } = this.#made;
      if (service) await call("delete", "/api/v1/services/{id}", { params: { id: service.id } });
      if (secret) await call("delete", "/api/v1/secrets/{id}", { params: { id: secret } });
      if (endpoint) await call("delete", "/api/v1/allowed-endpoints/{id}", { params: { id: endpoint } });
      this.#made = {};
      this.steps = [];
      this.outcome = undefined;
    } catch (thrown) {
      this.error = thrown;
    } finally {
      this.busy = false;
    }
  }

  async #step<T>(words: string, work: () => Promise<T>): Promise<T> {
    this.steps.push({ words, state: "running" });
    const step = this.steps.at(-1) as Step;
    try {
      const value = await work();
      step.state = "done";
      return value;
    } catch (error) {
      step.state = "failed";
      throw error;
    }
  }
  async #allow({ host, port }: HostPort): Promise<void> {
    const made = await this.#step(`Allowing ${host}:${port}`, () =>
      call("post", "/api/v1/allowed-endpoints", { body: { host, port } }),
    );
    this.#made.endpoint = made.id;
  }
  async #secret({ provider, key, secretId }: ConnectionRequest): Promise<string | undefined> {
    if (!key.trim()) return secretId || this.#made.secret;
    const value = key.trim();
    if (this.#made.secret) {
      const params = { id: this.#made.secret };
      await this.#step("Replacing the key in the vault", () =>
        call("put", "/api/v1/secrets/{id}", { params, body: { value } }),
      );
      return this.#made.secret;
    }
    const name = freeName(
      `${provider.name} key`.slice(0, 96),
      catalog.secrets.map((one) => one.name),
    );
    const made = await this.#step("Storing the key in the vault", () =>
      call("post", "/api/v1/secrets", { body: { name, type: "api_key", value } }),
    );
    this.#made.secret = made.id;
    return made.id;
  }
  async #service({ provider, at }: ConnectionRequest): Promise<string> {
    if (provider.from === "service") return provider.id;
    if (this.#made.service?.from === provider.id) return this.#made.service.id;
    const name = freeName(
      `Models at ${at.host}`.slice(0, 96),
      catalog.services.map((one) => one.name),
    );
    const made = await this.#step("Creating the service", () =>
      call("post", "/api/v1/services", { body: { name, serviceTemplateId: provider.id } }),
    );
    this.#made.service = { id: made.id, from: provider.id };
    return made.id;
  }
  async #tool(asked: ConnectionRequest, serviceId: string, secretId?: string): Promise<Tool> {
    const connectionParams = { endpoint: asked.address.trim(), model: asked.model.trim() };
    const name = asked.name.trim() || asked.model.trim();
    const before = this.tool;
    if (before && before.serviceId !== serviceId) {
      await call("delete", "/api/v1/tools/{id}", { params: { id: before.id } });
      this.tool = undefined;
    }
    const held = this.tool;
    const saved = await this.#step(held ? "Updating the tool" : "Creating the tool", () =>
      held
        ? call("put", "/api/v1/tools/{id}", {
            params: { id: held.id },
            body: { name, connectionParams, secretId: secretId ?? null, basedOnHash: held.hash },
          })
        : call("post", "/api/v1/tools", { body: chatTool({ name, serviceId, connectionParams, secretId }) }),
    );
    this.tool = saved;
    catalog.put("tools", saved);
    return saved;
  }
}
