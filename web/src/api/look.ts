// Stores the grant under which this tab reads another account. Such a tab cannot change anything. Other tabs are not affected.
export interface Look {
  /** Sent with every request that reads. */
  grant: string;
  /** Id of the account that is viewed. */
  owner: string;
  until: string;
}

const PLACE = "skein.look";
/** Paths that keep the own account: the session, grants and the list of users. */
const OWN = /^\/api\/v1\/(?:account|grants|users)(?:[/?]|$)/;
/** Asked in a body, and changing nothing. */
const QUESTIONS = ["/api/v1/search", "/api/v1/compare", "/api/v1/processes/validate"];

function read(): Look | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "null") as Look | null;
    return kept && Date.parse(kept.until) > Date.now() ? kept : undefined;
  } catch {
    return undefined;
  }
}
/** Fixed until the page reloads. */
export const look = read();

/** Starts or ends the view of another account; cached data belongs to the other user, so the page reloads. */
export function lookAt(next: Look | undefined, at: string): void {
  try {
    if (next) sessionStorage.setItem(PLACE, JSON.stringify(next));
    else sessionStorage.removeItem(PLACE);
  } catch {
    // Without a memory of its own a tab cannot look at somebody else's things.
  }
  location.assign(at);
}

/** The headers of a request that reads somebody else's things. */
export const lookHeaders = (url: string): Record<string, string> =>
  look && !OWN.test(url) ? { "Skein-Grant": look.grant } : {};

/** True if the request would change the viewed account. */
export const isForbidden = (method: string, url: string): boolean =>
  look !== undefined && method !== "GET" && !OWN.test(url) && !QUESTIONS.includes(url);
