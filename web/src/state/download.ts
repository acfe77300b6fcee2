// Files that a person keeps: the browser fetches them by their address, or the page does where an address is not enough.
import { send } from "../api/client";
import { look } from "../api/look";

/** Somebody else's are fetched here: an address alone cannot say by which grant. */
export async function download(address: string): Promise<void> {
  if (!look) return void window.open(address, "_blank");
  const answer = await send(address, { method: "GET" });
  const name = nameIn(answer.headers.get("content-disposition")) ?? "skein";
  const url = URL.createObjectURL(await answer.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}

export const nameIn = (disposition: string | null): string | undefined =>
  /filename="([^"]+)"/.exec(disposition ?? "")?.[1];
