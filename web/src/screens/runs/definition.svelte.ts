// The process of a run, in the version that the run carries out; for a component, which says which run.
import { call } from "../../api/client";
import type { Process } from "../processes/definition";
import type { WholeRun } from "./trace";

const known = new Map<string, Process>();

export class DefinitionOfRun {
  process = $state.raw<Process>();
  problem = $state.raw<unknown>();
  #run: () => Pick<WholeRun, "processId" | "processVersion">;
  #wanted = "";

  constructor(run: () => Pick<WholeRun, "processId" | "processVersion">) {
    this.#run = run;
    $effect(() => {
      const { processId, processVersion } = run();
      if (this.#wanted !== `${processId}@${processVersion}`) void this.again();
    });
  }

  again = async (): Promise<void> => {
    const { processId: id, processVersion: version } = this.#run();
    const wanted = (this.#wanted = `${id}@${version}`);
    this.problem = undefined;
    this.process = known.get(wanted);
    if (this.process) return;
    try {
      const process = await call("get", "/api/v1/processes/{id}", { params: { id }, query: { version } });
      known.set(wanted, process);
      if (wanted === this.#wanted) this.process = process;
    } catch (error) {
      if (wanted === this.#wanted) this.problem = error;
    }
  };
}
