// Routes the page: the address is the state. Links are ordinary links; panes live in the query.
import { untrack } from "svelte";
import { routes, type Route } from "./routes";

export interface Place {
  path: string;
  query: URLSearchParams;
  route: Route | undefined;
  params: Record<string, string>;
}

function placeOf(href: string): Place {
  const url = new URL(href);
  const path = url.pathname.length > 1 ? url.pathname.replace(/\/+$/, "") : url.pathname;
  for (const route of routes) {
    const params = match(route.path, path);
    if (params) return { path, query: url.searchParams, route, params };
  }
  return { path, query: url.searchParams, route: undefined, params: {} };
}

/** The parameters of a path, if it is one of this pattern: `/c/:conversation`. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const found = given[index] ?? "";
    if (part.startsWith(":")) {
      if (found === "") return undefined;
      try {
        params[part.slice(1)] = decodeURIComponent(found);
      } catch {
        return undefined;
      }
    } else if (part !== found) {
      return undefined;
    }
  }
  return params;
}

class Router {
  place = $state.raw(placeOf(typeof location === "undefined" ? "http://localhost/" : location.href));
  /** Grows whenever somebody goes somewhere, be it to where they are; not when panes of a screen open or close. */
  arrivals = $state(0);

  start(): () => void {
    const follow = () => {
      const { path } = this.place;
      this.place = placeOf(location.href);
      if (this.place.path !== path) this.arrivals += 1;
    };
    const click = (event: MouseEvent) => this.#click(event);
    addEventListener("popstate", follow);
    document.addEventListener("click", click);
    return () => {
      removeEventListener("popstate", follow);
      document.removeEventListener("click", click);
    };
  }

  /** Goes somewhere; with `replace` the back button does not come back here. */
  go(href: string, { replace = false }: { replace?: boolean } = {}): void {
    this.#show(href, replace);
    this.arrivals += 1;
  }
  #show(href: string, replace: boolean): void {
    const url = new URL(href, location.href);
    if (url.href === location.href) return;
    if (replace) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    this.place = placeOf(url.href);
  }

  /** For what takes a while: leads on once it is done, unless somebody went elsewhere meanwhile. */
  onward(): (href: string, options?: { replace?: boolean }) => void {
    const arrivals = untrack(() => this.arrivals);
    return (href, options) => {
      if (this.arrivals === arrivals) this.go(href, options);
    };
  }

  query(name: string): string | undefined {
    return this.place.query.get(name) ?? undefined;
  }

  /** Changes parts of the query and stays on the screen; `undefined` takes one out. */
  setQuery(
    changes: Record<string, string | undefined>,
    { replace = true }: { replace?: boolean } = {},
  ): void {
    this.#show(this.withQuery(changes), replace);
  }

  /** The address of this screen with other panes. */
  withQuery(changes: Record<string, string | undefined>): string {
    const query = new URLSearchParams(this.place.query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) query.delete(name);
      else query.set(name, value);
    }
    const search = query.toString();
    return this.place.path + (search ? `?${search}` : "");
  }

  #click(event: MouseEvent): void {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.composedPath().find((at): at is HTMLAnchorElement => at instanceof HTMLAnchorElement);
    if (!link?.href || link.target || link.hasAttribute("download") || link.origin !== location.origin)
      return;
    if (link.pathname.startsWith("/api/") || link.pathname.startsWith("/sign-in/")) return;
    if (link.pathname === location.pathname && link.search === location.search && link.hash) return;
    event.preventDefault();
    this.go(link.href);
  }
}

export const router = new Router();
