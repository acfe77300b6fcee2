// The chain that leads to a node, read page by page, each link judged by the server as it is read.
import { call, isAbort, type Schemas } from "../../api/client";

export type Link = Schemas["ProvenanceView"]["data"][number];
const PAGE = 50;
const PAGE_VERIFYING = 500;

export class HashChain {
  readonly node: string;
  links = $state.raw<Link[]>([]);
  lineage = $state.raw<string[]>([]);
  problem = $state.raw<unknown>();
  busy = $state(false);
  isWhole = $state(false);
  #next: string | undefined;
  #abort = new AbortController();

  constructor(node: string) {
    this.node = node;
    void this.more();
  }

  more = async (limit = PAGE): Promise<boolean> => {
    if (this.busy || this.isWhole) return false;
    this.busy = true;
    try {
      const page = await call("get", "/api/v1/nodes/{id}/provenance", {
        params: { id: this.node },
        query: { cursor: this.#next, limit },
        signal: this.#abort.signal,
      });
      this.links = [...this.links, ...page.data];
      if (page.editLineage.length > 0) this.lineage = page.editLineage;
      this.#next = page.pagination.next ?? undefined;
      this.isWhole = this.#next === undefined;
      this.problem = undefined;
      return true;
    } catch (error) {
      if (!isAbort(error)) this.problem = error;
      return false;
    } finally {
      this.busy = false;
    }
  };

  /** Reloads the chain to the root; reports the number of verified links. */
  async verify(tell: (judged: number) => void, goesOn: () => boolean): Promise<boolean> {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.busy = this.isWhole = false;
    this.links = [];
    this.#next = undefined;
    while (!this.isWhole) {
      if (!goesOn()) return false;
      if (!(await this.more(PAGE_VERIFYING))) {
        if (this.problem) throw this.problem;
        return false;
      }
      tell(this.links.length);
    }
    return true;
  }

  stop(): void {
    this.#abort.abort();
  }
}
