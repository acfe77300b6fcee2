// A real `skein serve` on a free port, in a folder of its own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Api } from "./api";
import { Started } from "./process";

const START_MS = 30_000;

/** The program under test. While the page is written, DEBUG_SKEIN_PAGE names the folder it takes it from. */
export function binary(): string {
  const target = process.env.CARGO_TARGET_DIR ?? join(process.env.HOME ?? "", ".cache/skein/target");
  return process.env.SKEIN_BIN ?? join(target, "debug/skein");
}

export class Skein {
  private constructor(
    readonly dir: string,
    private program: Started,
    /** Address the server listens on. */
    readonly address: string,
    /** Signs the first administrator in, once. */
    readonly link: string,
  ) {}

  static async start(): Promise<Skein> {
    const dir = await mkdtemp(join(tmpdir(), "skein-page-"));
    const { program, address, link } = await serve(dir, "127.0.0.1:0");
    return new Skein(dir, program, address, link);
  }

  /** Address of the page. */
  get origin(): string {
    return this.address;
  }

  /** The same link as a browser has to open it. */
  at(link: string): string {
    return this.origin + new URL(link).pathname;
  }

  admin(): Promise<Api> {
    return (this.#admin ??= Api.signIn(this.address, this.link));
  }
  #admin: Promise<Api> | undefined;

  /** Ends the server as a power failure would. */
  async kill(): Promise<void> {
    await this.program.stop("SIGKILL");
  }

  /** Comes back at the same address, after `kill`. */
  async restart(): Promise<void> {
    const { program } = await serve(this.dir, new URL(this.address).host);
    this.program = program;
  }

  async stop(): Promise<void> {
    await this.program.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function serve(dir: string, listen: string) {
  const program = Started.of(binary(), ["--dir", dir, "serve", "--listen", listen], {
    HOME: dir,
    XDG_CONFIG_HOME: dir,
    SKEIN_LOG: "warn",
  });
  const address = await program.line(/listening on (http:\S+)/, START_MS);
  const link = await program.line(/Sign in, once: (http:\S+)/, START_MS);
  return { program, address, link };
}
