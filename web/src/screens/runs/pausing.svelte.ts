// Pausing a run, and letting it go on: by its button, by its key, in the list and where it is open.
import { call, type Schemas } from "../../api/client";
import { announcer } from "../../shell/announcer.svelte";
import type { RunView } from "./trace";

type PauseResponse = Schemas["WholeExecutionView"];
type PausableRun = Pick<RunView, "id" | "status" | "pausedAt">;

export const isPausable = (run: PausableRun): boolean => run.status === "running";

export class Pausing {
  isBusy = $state(false);
  problem = $state.raw<unknown>();
  title = $state("");

  /** Pauses what goes on, and lets go on what is paused. Whether there was anything to do. */
  turn(run: PausableRun, then: (run: PauseResponse) => void, event?: KeyboardEvent): boolean {
    if (!isPausable(run)) return false;
    // A key that is held down is one wish.
    if (!event?.repeat && !this.isBusy) void this.#turn(run, then);
    return true;
  }

  async #turn({ id, pausedAt }: PausableRun, then: (run: PauseResponse) => void): Promise<void> {
    const paused = !pausedAt;
    this.isBusy = true;
    this.problem = undefined;
    this.title = paused ? "The run was not paused." : "The run was not continued.";
    try {
      const turned = await call("put", "/api/v1/executions/{id}/paused", {
        params: { id },
        body: { paused },
      });
      announcer.say(paused ? "Paused" : "Continued");
      then(turned);
    } catch (error) {
      this.problem = error;
    }
    this.isBusy = false;
  }
}
