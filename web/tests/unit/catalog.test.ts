import { describe, expect, it } from "vitest";
import { addressFault, hostPortOf, isLoopback } from "../../src/screens/catalog/endpoint";
import { healthOf } from "../../src/screens/catalog/kinds";
import {
  chatAmong,
  chatTool,
  freeName,
  processLike,
  providerOf,
} from "../../src/screens/catalog/modelConnection";
import {
  bodyOf,
  fromPairs,
  inputsOf,
  pairsOf,
  parsed,
  schemaOf,
  variablesOf,
} from "../../src/screens/catalog/operation";
import { outcomeOf, textOf } from "../../src/screens/catalog/testCall";
import { noParts, valueOf } from "../../src/screens/catalog/secretParts";
import { blankTool, bodyFrom, changesFrom } from "../../src/screens/catalog/toolFields";

const head = { ownerId: "user_1", shared: false, version: 1, hash: "h", createdAt: "", updatedAt: "" };

describe("addresses", () => {
  it("are taken apart, with the usual port", () => {
    expect(hostPortOf("http://127.0.0.1:11434/v1")).toEqual({ host: "127.0.0.1", port: 11434 });
    expect(hostPortOf("https://api.example.org/v1")).toEqual({ host: "api.example.org", port: 443 });
    expect(hostPortOf("http://[::1]:8080")).toEqual({ host: "::1", port: 8080 });
    expect(hostPortOf("localhost")).toBeUndefined();
    expect(hostPortOf("file:///etc/passwd")).toBeUndefined();
  });
  it("know the machine itself", () => {
    for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"])
      expect(isLoopback({ host, port: 1 })).toBe(true);
    expect(isLoopback({ host: "localhost.example.org", port: 1 })).toBe(false);
    expect(isLoopback({ host: "10.0.0.1", port: 1 })).toBe(false);
  });
  it("say what is wrong with them", () => {
    expect(addressFault("", "https")).toBe("is required");
    expect(addressFault("api", "https")).toContain("https://");
    expect(addressFault("http://a.example", "https")).toContain("must begin with https");
    expect(addressFault("http://127.0.0.1:1", "http")).toBeUndefined();
  });
});

describe("operations", () => {
  const rest = {
    type: "rest_call",
    method: "POST",
    path: "/c/{{city}}",
    query: { d: "{{ days }}" },
    body: { a: ["{{place.street}}"] },
  };
  it("tell which inputs they mention", () => {
    expect(variablesOf(rest)).toEqual(["city", "days", "place"]);
    expect(variablesOf({ type: "graph_query", query: "MATCH (n {id: $id}) RETURN n" })).toEqual(["id"]);
    expect(variablesOf({ type: "llm_call", promptTemplate: "", messagesFrom: "messages" })).toEqual([
      "messages",
    ]);
  });
  it("keep what rows cannot say of an input", () => {
    const before = {
      type: "object",
      properties: { city: { type: "string", minLength: 2 } },
      required: ["city"],
    };
    const rows = inputsOf(before, ["city", "days"]);
    expect(rows.map(({ name }) => name)).toEqual(["city", "days"]);
    const after = schemaOf(rows, before);
    expect(after.properties?.city).toEqual({ type: "string", minLength: 2 });
    expect(after.required).toEqual(["city", "days"]);
  });
  it("are rows of names and values", () => {
    expect(pairsOf({ a: "1", b: 2 })).toEqual([
      { name: "a", value: "1" },
      { name: "b", value: "2" },
    ]);
    expect(
      fromPairs([
        { name: " a ", value: "1" },
        { name: "", value: "x" },
      ]),
    ).toEqual({ a: "1" });
    expect(fromPairs([])).toBeUndefined();
    expect(bodyOf('{"a": 1}')).toEqual({ a: 1 });
    expect(bodyOf("hello {{name}}")).toBe("hello {{name}}");
    expect(parsed("{").fault).toContain("Invalid JSON");
  });
});

describe("tools", () => {
  it("are sent without what a template says", () => {
    const fields = { ...blankTool("s", "t"), name: " Ask " };
    expect(bodyFrom(fields)).toMatchObject({ name: "Ask", serviceId: "s", toolTemplateId: "t" });
    expect(bodyFrom(fields)).not.toHaveProperty("operation");
  });
  it("take away what was emptied", () => {
    const body = changesFrom({ ...blankTool("s", ""), name: "Ask", operation: { type: "rest_call" } }, "h");
    expect(body).toMatchObject({ description: null, secretId: null, secretUse: null, basedOnHash: "h" });
  });
  it("answer with what the server told", () => {
    const base = { id: "op", kind: "tool.test", progress: 100, createdAt: "", updatedAt: "" };
    const good = outcomeOf({
      ...base,
      status: "completed",
      result: { output: { text: "hi" }, latencyMs: 3 },
    });
    expect(good).toMatchObject({ ok: true, latencyMs: 3 });
    expect(textOf(good.output)).toBe("hi");
    expect(outcomeOf({ ...base, status: "failed", error: { code: "address_refused" } })).toMatchObject({
      ok: false,
      code: "address_refused",
    });
  });
});

describe("models", () => {
  const service = {
    ...head,
    id: "s",
    name: "Ollama",
    type: "llm_provider",
    protocol: "http",
    requiresSecret: false,
    enabled: true,
    schemaVersion: 1,
    status: "degraded",
    errorMessage: null,
    lastHealthCheck: null,
    connectionSchema: {
      properties: { endpoint: { default: "http://127.0.0.1:11434/v1" }, model: { examples: ["qwen3"] } },
    },
  };
  it("are offered with the address and names the schema knows", () => {
    expect(providerOf(service)).toMatchObject({
      from: "service",
      address: "http://127.0.0.1:11434/v1",
      models: ["qwen3"],
    });
  });
  it("take the place of the tool that answers", () => {
    const step = (id: string, toolId: string) => ({ id, toolId, output: { variable: id } });
    const chat = {
      ...head,
      id: "p",
      name: "Chat",
      steps: [step("context", "c"), step("answer", "offline")],
      outputTemplate: "{{answer.text}}",
      initialContext: {},
      maxRecursionDepth: 3,
      enabled: true,
      archived: false,
      definitionVersion: 1,
    };
    const answers = (id: string) => id === "offline";
    expect(chatAmong([{ ...chat, name: "Other" }, chat], answers)?.name).toBe("Chat");
    const made = processLike(chat, answers, "Chat with tiny", "new");
    expect(made.steps.map(({ toolId }) => toolId)).toEqual(["c", "new"]);
    expect(chatTool({ name: "tiny", serviceId: "s" }).operation).toMatchObject({ messagesFrom: "messages" });
    expect(freeName("Chat", ["Chat", "Chat 2"])).toBe("Chat 3");
  });
});

describe("secrets", () => {
  it("need all their parts, and send no empty ones", () => {
    expect(valueOf("api_key", { ...noParts(), key: " k " })).toBe("k");
    expect(valueOf("password", { ...noParts(), username: "a" })).toBeUndefined();
    expect(valueOf("oauth_token", { ...noParts(), accessToken: "a" })).toEqual({ accessToken: "a" });
  });
  it("are healthy or not, but never ill unasked", () => {
    expect(healthOf({ enabled: true, status: "degraded" }).word).toBe("not checked");
    expect(healthOf({ enabled: false, status: "down" }).word).toBe("off");
    expect(healthOf({ enabled: true, status: "down", lastHealthCheck: "2026" }).kind).toBe("danger");
  });
});
