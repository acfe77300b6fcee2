// Files that a person keeps: the browser fetches them by their address, or the page does where an address is not enough.
import { send } from "../api/client";
import { look } from "../api/look";

/** Somebody else's are fetched here: an address alone cannot say by which grant. */
export async function download(address: string): Promise<void> {
  if (!look) return follow(address);
  const answer = await send(address, { method: "GET" });
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
  const url = URL.createObjectURL(await answer.blob());
  follow(url, name ?? "skein");
  URL.revokeObjectURL(url);
}

/** Text that the page made itself, under a name. */
export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  follow(url, name);
  URL.revokeObjectURL(url);
}

/** The server's own name counts where there is one. */
function follow(href: string, download = ""): void {
  Object.assign(document.createElement("a"), { href, download }).click();
}
