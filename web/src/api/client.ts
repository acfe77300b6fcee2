// The one way to the server: typed by the API document, with a key for every change and one shape of refusal.
import type { components, paths } from "./schema";
import { isForbidden, look, lookAt, lookHeaders } from "./look";
import { onlyLooking, Problem, problemOf, unreachable } from "./problem";

export { Problem };
export type Schemas = components["schemas"];

type Method = "get" | "post" | "put" | "delete";
export type ApiPath<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, infer O> ? (O extends object ? P : never) : never;
}[keyof paths];
type Operation<M extends Method, P extends ApiPath<M>> = paths[P] extends Record<M, infer O> ? O : never;

type PathParameters<O> = O extends { parameters: { path: infer T } } ? { params: T } : { params?: undefined };
type QueryParameters<O> = O extends { parameters: { query: infer Q } }
  ? { query: Q }
  : O extends { parameters: { query?: infer Q } }
    ? { query?: Q }
    : { query?: undefined };
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { "application/json": infer B } } }
    ? { body?: B }
    : { body?: undefined };
type Json<R> = R extends { content: { "application/json": infer J } } ? J : never;
export type Success<O> = O extends { responses: infer R }
  ? { [S in keyof R & (200 | 201 | 202)]: Json<R[S]> }[keyof R & (200 | 201 | 202)]
  : never;

interface RequestExtras {
  signal?: AbortSignal;
  /** The same key for the same change makes repeating it harmless. */
  key?: string;
  /** The hash a change is based on. */
  ifMatch?: string;
}
export type Options<O> = PathParameters<O> & QueryParameters<O> & Body<O> & RequestExtras;
type Required<O> = object extends Options<O> ? [options?: Options<O>] : [options: Options<O>];

const SAFE_TRIES = 3;
const RETRY_WAIT_MS = 500;
const listeners = new Set<(problem: Problem) => void>();

/** Notifies listeners of every error response: the session uses it for 401 and for a lost connection. */
export function onProblem(listener: (problem: Problem) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A name for one change, drawn when a person asks for it. */
export const newKey = (): string => crypto.randomUUID();

/** Asks the server: `call("get", "/api/v1/nodes/{id}", { params: { id } })`. Throws `Problem`. */
export async function call<M extends Method, P extends ApiPath<M>>(
  method: M,
  path: P,
  ...[options]: Required<Operation<M, P>>
): Promise<Success<Operation<M, P>>> {
  const response = await answered(method, path, options as RequestOptions | undefined);
  return (response.status === 204 ? undefined : await response.json()) as Success<Operation<M, P>>;
}

/** Changes something like `call`, and gives the place of the change among all that happened, as events name theirs. */
export async function placed<M extends Method, P extends ApiPath<M>>(
  method: M,
  path: P,
  ...[options]: Required<Operation<M, P>>
): Promise<string | undefined> {
  const response = await answered(method, path, options as RequestOptions | undefined);
  // A connection is free for the next request when its answer was read to the end.
  await response.arrayBuffer();
  return response.headers.get("Skein-Cursor") ?? undefined;
}

async function answered(method: Method, path: string, asked: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "get") headers["Idempotency-Key"] = asked.key ?? newKey();
  if (asked.ifMatch) headers["If-Match"] = `"${asked.ifMatch}"`;
  if (asked.body !== undefined) headers["Content-Type"] = "application/json";
  const body = asked.body === undefined ? undefined : JSON.stringify(asked.body);
  return send(address(path, asked), {
    method: method.toUpperCase(),
    headers,
    body,
    signal: asked.signal,
  });
}

interface RequestOptions extends RequestExtras {
  params?: Record<string, string | number>;
  query?: Record<string, unknown>;
  body?: unknown;
}

export function address(
  path: string,
  { params, query }: Pick<RequestOptions, "params" | "query"> = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params?.[name] ?? "")),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** Sends one request. Reading is tried again when the server says when; a change never is. */
export async function send(
  url: string,
  init: RequestInit & { method: string; headers?: Record<string, string> },
): Promise<Response> {
  if (isForbidden(init.method, url)) throw told(onlyLooking(look?.owner ?? ""));
  const headers = { ...init.headers, ...lookHeaders(url) };
  for (let tries = 1; ; tries++) {
    try {
      const response = await fetch(url, { credentials: "same-origin", cache: "no-store", ...init, headers });
      if (response.ok) return response;
      const problem = await problemOf(response);
      // The grant was ended, or its time is over.
      if (look && problem.code === "invalid_grant") lookAt(undefined, "/settings/account");
      if (init.method === "GET" && problem.retryAfterMs !== undefined && tries < SAFE_TRIES) {
        await pause(problem.retryAfterMs, init.signal);
        continue;
      }
      throw told(problem);
    } catch (error) {
      if (error instanceof Problem || isAbort(error)) throw error;
      if (init.method === "GET" && tries < SAFE_TRIES) {
        await pause(RETRY_WAIT_MS * tries, init.signal);
        continue;
      }
      throw told(unreachable(error));
    }
  }
}

function told(problem: Problem): Problem {
  for (const listener of listeners) listener(problem);
  return problem;
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

function pause(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    });
  });
}

/** Every entry of a listing, page by page, up to a number. */
export async function all<T>(
  page: (cursor: string | undefined) => Promise<{ data: T[]; pagination: Schemas["Pagination"] }>,
  most = 1000,
): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(cursor);
    found.push(...next.data);
    cursor = next.pagination.next ?? undefined;
  } while (cursor && found.length < most);
  return found;
}

/** Uploads bytes; the answer names them by hash. */
export async function upload(file: Blob, signal?: AbortSignal): Promise<Schemas["BlobView"]> {
  const headers = { "Content-Type": file.type || "application/octet-stream", "Idempotency-Key": newKey() };
  const response = await send("/api/v1/blobs", { method: "POST", headers, body: file, signal });
  return (await response.json()) as Schemas["BlobView"];
}
