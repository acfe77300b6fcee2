// The process of a run, in the version that the run carries out; for a component, which says which run.
import { call } from "../../api/client";
import type { Process } from "../processes/definition";
import type { WholeRun } from "./trace";

const known = new Map<string, Process>();

type VersionedRun = Pick<WholeRun, "processId" | "processVersion">;
const keyOf = ({ processId, processVersion }: VersionedRun) => `${processId}@${processVersion}`;

/** The definition of a run never changes, so it is fetched once. */
export async function definitionOf(run: VersionedRun): Promise<Process> {
  const found =
    known.get(keyOf(run)) ??
    (await call("get", "/api/v1/processes/{id}", {
      params: { id: run.processId },
      query: { version: run.processVersion },
    }));
  known.set(keyOf(run), found);
  return found;
}

export class DefinitionOfRun {
  process = $state.raw<Process>();
  problem = $state.raw<unknown>();
  #run: () => VersionedRun;
  #wanted = "";

  constructor(run: () => VersionedRun) {
    this.#run = run;
    $effect(() => {
      if (this.#wanted !== keyOf(run())) void this.again();
    });
  }

  again = async (): Promise<void> => {
    const run = this.#run();
    const wanted = (this.#wanted = keyOf(run));
    this.problem = undefined;
    this.process = known.get(wanted);
    if (this.process) return;
    try {
      const process = await definitionOf(run);
      if (wanted === this.#wanted) this.process = process;
    } catch (error) {
      if (wanted === this.#wanted) this.problem = error;
    }
  };
}
