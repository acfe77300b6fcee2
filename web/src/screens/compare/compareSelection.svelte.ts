// Nodes that somebody set aside to compare, from wherever they saw them.
import { announcer } from "../../shell/announcer.svelte";
import { writeStored, readStored } from "../../state/browserStorage";

export const COMPARED_MAX = 4;

class CompareSelection {
  nodes = $state.raw<readonly string[]>(readStored<string[]>("picks", []));

  has(node: string): boolean {
    return this.nodes.includes(node);
  }
  /** Adds a node or takes it out; the oldest goes when there are too many. */
  toggle(node: string): void {
    const isIn = this.has(node);
    this.set(isIn ? this.nodes.filter((one) => one !== node) : [...this.nodes, node].slice(-COMPARED_MAX));
    announcer.say(isIn ? "Removed from comparison" : `Selected to compare: ${this.nodes.length}`);
  }
  set(nodes: readonly string[]): void {
    this.nodes = nodes.slice(0, COMPARED_MAX);
    writeStored("picks", this.nodes.length > 0 ? this.nodes : undefined);
  }
}
export const compareSelection = new CompareSelection();
