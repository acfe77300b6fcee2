// Which bytes an item attached: what is said names the item, and bytes are fetched by their hash.
import { call } from "../api/client";

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
