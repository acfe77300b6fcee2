// Fetches search results page by page and applies the filters that the server lacks.
import { all, call, isAbort, type Schemas } from "../../api/client";
import { look } from "../../api/look";
import { briefOf, textOf } from "../inspector/content";
import { passes, remembers, type Hit, type Query } from "./query";
import { isAsked, parseQuery, type ParsedQuery } from "./typedFilters";
import { modelsOf, shownCalls, type Generation } from "../../state/generation";
import { session } from "../../state/session.svelte";
import { fetchGenerations } from "../../state/cost";

const PAGE = 50;
/** Filters may leave little of a page: so many are read for one. */
const PAGES_AT_ONCE = 6;
const AMONG_MAX = 5000;
type Node = Schemas["TaggedNodeView"];

export class SearchResults {
  hits = $state.raw<readonly Hit[]>([]);
  problem = $state.raw<unknown>();
  busy = $state(false);
  /** The query that the hits answer. */
  answered = $state.raw<ParsedQuery>();
  more = $state(false);
  /** Number of results before filtering. */
  looked = $state(0);
  /** Without the index words alone answer, on the paths that are shown. */
  isByWords = $state(false);
  #next: string | undefined;
  #among: ReadonlySet<string> | undefined;
  /** Actors with the wanted name. */
  #actors: readonly string[] | undefined;
  /** Messages of that author come first, then episodes imported under that name. */
  #isAmongImported = false;
  #abort: AbortController | undefined;

  async look(query: Query): Promise<void> {
    const asked = parseQuery(query);
    this.#abort?.abort();
    this.#next = this.#among = this.#actors = undefined;
    this.#isAmongImported = false;
    this.looked = 0;
    if (!isAsked(asked)) {
      this.hits = [];
      this.answered = this.problem = undefined;
      this.more = this.busy = this.isByWords = false;
      return;
    }
    await this.#read(asked, true);
  }
  async further(): Promise<void> {
    if (this.answered && this.more && !this.busy) await this.#read(this.answered, false);
  }
  stop(): void {
    this.#abort?.abort();
  }

  async #read(query: ParsedQuery, isFirst: boolean): Promise<void> {
    const { signal } = (this.#abort = new AbortController());
    this.busy = true;
    try {
      const found = query.words ? await this.#search(query, signal) : await this.#list(query, signal);
      this.hits = isFirst ? found : [...this.hits, ...found];
      this.more = this.#next !== undefined;
      this.answered = query;
      this.problem = undefined;
    } catch (error) {
      if (isAbort(error)) return;
      this.problem = error;
    }
    this.busy = false;
  }

  async #search(query: ParsedQuery, signal: AbortSignal): Promise<Hit[]> {
    if (!this.#among && (query.tag || query.isBookmarked))
      this.#among = new Set((await this.#marked(query, signal)).map(({ id }) => id));
    const actors = await this.#called(query.author, signal);
    this.#isAmongImported ||= query.author !== "" && actors.length === 0;
    const hits: Hit[] = [];
    for (let pages = 0; pages < PAGES_AT_ONCE && hits.length < PAGE; pages++) {
      const body = {
        text: query.words,
        limit: PAGE,
        cursor: this.#next ?? null,
        conversationId: query.conversation || null,
        actorIds: this.#isAmongImported ? [] : [...actors],
        within: query.conversation ? [query.conversation] : [],
        from: query.since ? `${query.since}T00:00:00Z` : null,
        until: query.until ? `${query.until}T23:59:59.999Z` : null,
        strict: true,
        allBranches: !query.isShownOnly,
        atLeast: "latest",
      };
      const page = await call("post", "/api/v1/search", { body, signal });
      this.isByWords = page.searched.by === "words";
      this.looked += page.data.length;
      const among = page.data.map(foundOf).filter((hit) => passes(hit, query, this.#among));
      const said = among.filter((hit) => !query.author || this.#isSaidBy(hit, query.author, actors));
      hits.push(...(await madeBy(said, query, signal)));
      this.#next = page.pagination.next ?? undefined;
      if (this.#next) continue;
      if (!query.author || this.#isAmongImported) break;
      this.#isAmongImported = true;
    }
    return hits;
  }

  /** Asked once for a query, however many pages of it are read. */
  async #called(name: string, signal: AbortSignal): Promise<readonly string[]> {
    return name ? (this.#actors ??= await actorsNamed(name, signal)) : [];
  }
  #isSaidBy({ actorId, imported }: Hit, name: string, actors: readonly string[]): boolean {
    if (!this.#isAmongImported) return true;
    return !isAmong(actorId, actors) && holds(imported?.saidBy ?? "", name);
  }

  /** Without words: what is bookmarked or tagged, newest first. */
  async #list(query: ParsedQuery, signal: AbortSignal): Promise<Hit[]> {
    const nodes = await this.#marked(query, signal);
    this.#next = undefined;
    this.isByWords = false;
    this.looked = nodes.length;
    const actors = await this.#called(query.author, signal);
    const hits = nodes.map(hitOf).filter((hit) => passes(hit, query, undefined));
    return madeBy(
      hits.filter(({ actorId }) => !query.author || isAmong(actorId, actors)),
      query,
      signal,
    );
  }

  async #marked({ tag, isBookmarked }: Query, signal: AbortSignal): Promise<Node[]> {
    const filter = tag ? { tag } : { bookmarked: true };
    const nodes = await all(
      (cursor) => call("get", "/api/v1/nodes", { query: { ...filter, cursor, limit: 1000 }, signal }),
      AMONG_MAX,
    );
    return tag && isBookmarked ? nodes.filter(({ bookmarked }) => bookmarked) : nodes;
  }
}

/** Actor ids come with or without a prefix; the number is the same. */
const numberOf = (id: string): string => id.slice(id.indexOf("_") + 1);
const isAmong = (id: string | undefined, actors: readonly string[]): boolean =>
  id !== undefined && actors.some((actor) => numberOf(actor) === numberOf(id));
const holds = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());
/** Actors with this name; imported episodes name people who may not be actors. */
async function actorsNamed(name: string, signal: AbortSignal): Promise<string[]> {
  const actors = await all((cursor) => call("get", "/api/v1/actors", { query: { cursor }, signal }));
  const writing = [...(await owners(signal)), ...actors];
  return writing.filter((one) => holds(one.name, name)).map(({ id }) => id);
}
/** Owners of the data: people write as themselves and are not among the actors. */
async function owners(signal: AbortSignal): Promise<Schemas["UserView"][]> {
  if (!look) return session.account ? [session.account.user] : [];
  const users = await all((cursor) => call("get", "/api/v1/users", { query: { cursor }, signal }));
  return users.filter(({ name }) => name === look?.owner);
}

/** Hits that the wanted model wrote or for which a tool was called. */
async function madeBy(hits: Hit[], asked: ParsedQuery, signal: AbortSignal): Promise<Hit[]> {
  if (!asked.model && !asked.hasTool) return hits;
  const nodes = hits.flatMap(({ nodeId, imported }) => (nodeId && !imported ? [nodeId] : []));
  const generations = await fetchGenerations(nodes, signal);
  const isWanted = (generation: Generation | undefined) =>
    generation !== undefined &&
    (!asked.hasTool || shownCalls(generation).length > 0) &&
    (!asked.model || modelsOf(generation).some((model) => holds(model, asked.model)));
  return hits.filter(({ nodeId, imported }) => !imported && isWanted(generations.get(nodeId ?? "")));
}

function foundOf(found: Schemas["Listing_FoundView"]["data"][number]): Hit {
  const { episodeId, nodeId, conversationId, createdAt, snippet, words, source, knownAt } = found;
  const isImported = !nodeId || !remembers(episodeId, nodeId);
  return {
    id: episodeId,
    nodeId: nodeId ?? undefined,
    conversationId: conversationId ?? undefined,
    speaker: found.speaker ?? null,
    createdAt,
    snippet,
    words,
    isAside: found.found === "aside",
    actorId: found.actorId ?? undefined,
    imported: isImported ? { source, saidBy: found.saidBy ?? null, knownAt } : undefined,
  };
}

const hitOf = (node: Node): Hit => ({
  id: node.id,
  nodeId: node.id,
  conversationId: node.conversationId,
  speaker: node.speaker ?? null,
  createdAt: node.createdAt,
  snippet: briefOf(textOf(node.content), 240),
  words: [],
  actorId: node.authorId,
});
