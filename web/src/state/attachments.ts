// Resolves attached bytes: content names an item, and bytes are fetched by their hash.
import { call, send } from "../api/client";
import { look } from "../api/look";

const known = new Map<string, Promise<string | undefined>>();

export function hashOf(itemId: string): Promise<string | undefined> {
  const before = known.get(itemId);
  if (before) return before;
  const asked = call("get", "/api/v1/items/{id}", { params: { id: itemId } }).then(
    (item) => {
      const data = (item as { data?: Record<string, unknown> }).data ?? {};
      return [data["hash"], data["blob"], data["digest"]].find(
        (value): value is string => typeof value === "string",
      );
    },
    () => {
      known.delete(itemId);
      return undefined;
    },
  );
  known.set(itemId, asked);
  return asked;
}

/** URL to show bytes from. Bytes of another account are fetched: an address alone cannot name the grant. */
export async function sourceOf(address: string): Promise<string> {
  if (!look) return address;
  return URL.createObjectURL(await (await send(address, { method: "GET" })).blob());
}
