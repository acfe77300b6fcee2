// Programs that tests start: what they print is kept, and none outlives its test.
import { spawn, type ChildProcess } from "node:child_process";

export class Started {
  #printed = "";
  #heard = new Set<() => void>();
  readonly ended: Promise<number | null>;

  private constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        for (const hear of this.#heard) hear();
      });
    }
    this.ended = new Promise((resolve) => child.once("close", resolve));
  }

  static of(program: string, words: string[], env: Record<string, string> = {}): Started {
    // Environment variables of the tests are not passed to the programs.
    const outer = Object.entries(process.env).filter(([name]) => !name.startsWith("SKEIN_"));
    const child = spawn(program, words, {
      env: { ...Object.fromEntries(outer), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Started(child);
  }

  /** Waits for a line and gives what the pattern's group found in it. */
  line(pattern: RegExp, withinMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = (act: () => void) => {
        this.#heard.delete(look);
        clearTimeout(timer);
        act();
      };
      const look = () => {
        const found = pattern.exec(this.#printed);
        if (found) finish(() => resolve(found[1] ?? found[0]));
      };
      const give = (why: string) => () =>
        finish(() => reject(new Error(`${why}: ${pattern}\n${this.#printed}`)));
      const timer = setTimeout(give("not printed in time"), withinMs);
      this.#heard.add(look);
      this.child.once("error", (error) => give(error.message)());
      void this.ended.then(give("the program ended first"));
      look();
    });
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.ended;
  }
}
