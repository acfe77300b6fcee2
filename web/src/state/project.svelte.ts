// The project at hand: new conversations go there, and Home shows its things.
import { all, call, type Schemas } from "../api/client";
import { writeStored, readStored } from "./browserStorage";

const LAST = "project.last";

class Project {
  list = $state.raw<Schemas["ProjectView"][]>([]);
  id = $state<string | undefined>(readStored<string | undefined>("project", undefined));

  get current(): Schemas["ProjectView"] | undefined {
    return this.list.find(({ id }) => id === this.id) ?? this.list.find(({ isDefault }) => isDefault);
  }
  /** The probable project, until the server names it. */
  get likely(): string | undefined {
    return this.current?.id ?? this.id ?? readStored<string | undefined>(LAST, undefined);
  }
  choose(id: string): void {
    this.id = id;
    writeStored("project", id);
  }
  async refresh(): Promise<void> {
    this.list = await all((cursor) => call("get", "/api/v1/projects", { query: { cursor } }));
    if (this.id && !this.list.some(({ id }) => id === this.id)) this.id = undefined;
    writeStored(LAST, this.current?.id);
  }
}
export const project = new Project();
