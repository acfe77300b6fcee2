// One process being written: what the server has, what is on the screen, what keeps it from being kept.
import { call, isAbort } from "../../api/client";
import { asProblem, type Problem } from "../../api/problem";
import { draft, dropDraft, keepDraft } from "../../state/drafts";
import type { Unread } from "../../ui/json";
import { placed, type LocatedBreach, type Part } from "./breaches";
import { blankDefinition, definitionOf, type Definition, type Process } from "./definition";
import { carryUnread, cleaned, formOf, isSame, putUnread, unreadAnswers, type FormDefinition } from "./form";

interface StoredProcess {
  definition: Definition;
  hash?: string;
  unread?: Unread;
}
const placeOf = (id: string): string => `process/${id}`;
const VALIDATE_WAIT_MS = 350;

export class Editor {
  readonly id: string;
  process = $state.raw<Process>();
  definition = $state<FormDefinition>(formOf(blankDefinition()));
  /** Invalid JSON of a view; the definition lacks it. */
  #unread = $state<Unread>({});
  loadProblem = $state.raw<unknown>();
  saveProblem = $state.raw<Problem>();
  checkProblem = $state.raw<unknown>();
  found = $state.raw<LocatedBreach[]>([]);
  isReady = $state(false);
  isSaving = $state(false);
  isChecking = $state(false);
  /** It was changed elsewhere while it is being changed here. */
  isBehind = $state(false);
  fromDraft = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | undefined;

  constructor(id: string) {
    this.id = id;
  }

  get isNew(): boolean {
    return this.id === "new";
  }
  get isDirty(): boolean {
    const saved = this.process ? definitionOf(this.process) : blankDefinition();
    return this.unreadIn !== undefined || !isSame(this.definition, saved);
  }
  /** New, and nothing written yet: there is nothing to find fault with. */
  get isUntouched(): boolean {
    return this.isNew && !this.isDirty;
  }
  get isValid(): boolean {
    return this.unreadIn === undefined && this.found.length === 0 && this.definition.name.trim() !== "";
  }
  /** View that holds invalid JSON: the raw view, the context or the answer form of a step. */
  get unreadIn(): string | undefined {
    const here = ["raw", "context"].find((place) => this.#unread[place] !== undefined);
    return here ?? Object.keys(unreadAnswers(this.definition))[0];
  }
  unread(place: string): string | undefined {
    return this.#unread[place];
  }
  stand(place: string, text: string | undefined): void {
    if (this.#unread[place] === text) return;
    this.#unread[place] = text;
    this.changed();
  }
  get #place(): string {
    return placeOf(this.id);
  }

  /** The broken rules of one field. */
  at(part: Part, step?: number): LocatedBreach[] {
    return this.found.filter((found) => found.part === part && found.step === step);
  }
  ofStep(step: number): LocatedBreach[] {
    return this.found.filter((found) => found.step === step);
  }

  async load(): Promise<void> {
    try {
      this.loadProblem = undefined;
      if (!this.isNew)
        this.process = await call("get", "/api/v1/processes/{id}", { params: { id: this.id } });
      const kept = draft<StoredProcess | undefined>(this.#place, undefined);
      this.#unread = kept?.unread ?? {};
      this.#show(kept?.definition ?? (this.process ? definitionOf(this.process) : blankDefinition()));
      putUnread(this.definition, this.#unread);
      this.fromDraft = kept !== undefined && this.isDirty;
      this.isBehind = this.fromDraft && this.process !== undefined && kept?.hash !== this.process.hash;
      this.isReady = true;
      this.check(0);
    } catch (error) {
      this.loadProblem = error;
    }
  }

  /** Somebody changed it: follow, unless something is written here. */
  async follow(): Promise<void> {
    if (this.isNew || this.isSaving) return;
    const newest = await call("get", "/api/v1/processes/{id}", { params: { id: this.id } });
    if (newest.hash === this.process?.hash) return;
    const wasDirty = this.isDirty;
    if (!wasDirty) {
      this.process = newest;
      this.#show(definitionOf(newest));
    } else {
      this.isBehind = true;
    }
  }

  #show(definition: Definition): void {
    this.definition = formOf(structuredClone(definition));
  }
  /** Puts another definition in its place: from the raw view, or an older version. */
  replace(definition: Definition): void {
    const before = this.definition;
    this.#show({ ...blankDefinition(), enabled: before.enabled, ...definition });
    carryUnread(before, this.definition);
    this.changed();
  }
  discard(): void {
    dropDraft(this.#place);
    this.#unread = {};
    this.fromDraft = this.isBehind = false;
    this.saveProblem = undefined;
    this.#show(this.process ? definitionOf(this.process) : blankDefinition());
    void this.load();
  }

  /** Called when anything was typed: it is kept here and checked there. */
  changed(): void {
    if (!this.isReady) return;
    if (this.isDirty) this.#keep(this.#place, this.process?.hash);
    else dropDraft(this.#place);
    this.check(VALIDATE_WAIT_MS);
  }
  #keep(place: string, hash: string | undefined): void {
    const definition = cleaned($state.snapshot(this.definition));
    const { raw, context } = this.#unread;
    const unread = { raw, context, ...unreadAnswers(this.definition) };
    keepDraft(place, { definition, hash, unread } satisfies StoredProcess);
  }

  check(wait: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#validate(), wait);
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  async #validate(): Promise<void> {
    this.#asked?.abort();
    const asked = (this.#asked = new AbortController());
    const definition = cleaned($state.snapshot(this.definition));
    this.isChecking = true;
    try {
      // A name is looked at here; the server would look at nothing else without one.
      const body = { ...definition, name: definition.name.trim() || "Unnamed" };
      const told = await call("post", "/api/v1/processes/validate", { body, signal: asked.signal });
      this.found = placed(told.breaches, definition);
      this.checkProblem = undefined;
    } catch (error) {
      if (isAbort(error)) return;
      this.found = [];
      this.checkProblem = error;
    }
    if (this.#asked === asked) this.isChecking = false;
  }

  /** Keeps it; gives back the process, or nothing if it was refused. */
  async save({ over = false }: { over?: boolean } = {}): Promise<Process | undefined> {
    if (this.unreadIn !== undefined || this.isSaving) return undefined;
    this.isSaving = true;
    this.saveProblem = undefined;
    try {
      if (over && !this.isNew)
        this.process = await call("get", "/api/v1/processes/{id}", { params: { id: this.id } });
      const definition = cleaned($state.snapshot(this.definition));
      const params = { id: this.id };
      const saved = this.process
        ? await call("put", "/api/v1/processes/{id}", {
            params,
            body: this.#change(definition, this.process),
          })
        : await call("post", "/api/v1/processes", { body: definition });
      dropDraft(this.#place);
      this.fromDraft = this.isBehind = false;
      this.process = saved;
      // Text typed meanwhile stays as a change of the saved state.
      if (!isSame(this.definition, definition) || this.unreadIn !== undefined)
        this.#keep(placeOf(saved.id), saved.hash);
      else if (!this.isNew) this.#show(definitionOf(saved));
      return saved;
    } catch (error) {
      this.saveProblem = asProblem(error);
      return undefined;
    } finally {
      this.isSaving = false;
    }
  }

  #change(definition: Definition, process: Process) {
    return {
      ...definition,
      description: definition.description ?? null,
      tokenBudget: definition.tokenBudget ?? null,
      maxRecursionDepth: definition.maxRecursionDepth ?? 3,
      basedOnHash: process.hash,
    };
  }

  async switchOn(enabled: boolean): Promise<void> {
    const process = this.process;
    if (!process) return;
    const body = { enabled, basedOnHash: process.hash };
    this.process = await call("put", "/api/v1/processes/{id}", { params: { id: this.id }, body });
    this.definition.enabled = enabled;
  }
}
