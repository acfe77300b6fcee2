// An error response: the cause, the violated rule and the remedy.
interface ProblemBody {
  code?: string;
  message?: string;
  rule?: string | null;
  details?: Record<string, unknown>;
  correlationId?: string;
  retryable?: boolean;
}

interface Fields extends ProblemBody {
  status: number;
  retryAfterMs?: number;
}

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly rule?: string;
  readonly details: Record<string, unknown>;
  /** Under which the server's log has the request. */
  readonly requestId?: string;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;

  constructor(fields: Fields) {
    super(fields.message ?? "The server gave no reason.");
    this.name = "Problem";
    this.status = fields.status;
    this.code = fields.code ?? "unknown";
    this.rule = fields.rule ?? undefined;
    this.details = fields.details ?? {};
    this.requestId = fields.correlationId;
    this.retryable = fields.retryable ?? false;
    this.retryAfterMs = fields.retryAfterMs;
  }

  /** The remedy, if the message alone does not name it. */
  get hint(): string | undefined {
    if (this.code === "unreachable")
      return "Check that `skein serve` is running. Your text is kept in this browser.";
    if (this.status === 401)
      return "Open the link that `skein serve` printed. Your text is kept in this browser.";
    if (this.code === "only_looking") return "Stop viewing this account to return to your own.";
    if (this.status === 403) return "Ask an administrator, or use an account that may do this.";
    if (this.code === "record_changed")
      return "Someone else changed it meanwhile. Load the newest version and try again.";
    if (this.status === 413) return "Send less at once.";
    if (this.status === 429 || this.status === 503) return "Wait a moment and try again.";
    if (this.status >= 500)
      return "Try again. If it fails again, look up the request id in the server's log.";
    return undefined;
  }

  /** Report for support: all details as text. */
  get report(): string {
    const lines = [
      this.message,
      `status ${this.status}`,
      `code ${this.code}`,
      this.rule && `rule ${this.rule}`,
      this.requestId && `request ${this.requestId}`,
      Object.keys(this.details).length > 0 && JSON.stringify(this.details, null, 2),
    ];
    return lines.filter(Boolean).join("\n");
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => "");
  let told: ProblemBody = {};
  try {
    told = (JSON.parse(text) as { error?: ProblemBody }).error ?? {};
  } catch {
    told = { message: `The server answered ${response.status} without an explanation.` };
  }
  const waits = Number(response.headers.get("retry-after"));
  const retryAfterMs = waits > 0 && told.retryable ? waits * 1000 : undefined;
  return new Problem({ ...told, status: response.status, retryAfterMs });
}

export function unreachable(cause: unknown): Problem {
  const details = { cause: cause instanceof Error ? cause.message : String(cause) };
  return new Problem({
    status: 0,
    code: "unreachable",
    message: "The server is unreachable.",
    details,
    retryable: true,
  });
}

/** By a grant things are read, and none is changed. */
export const onlyLooking = (owner: string): Problem =>
  new Problem({
    status: 403,
    code: "only_looking",
    message: `This grant is read-only. You cannot change the account of ${owner}.`,
  });

/** Whatever was thrown, as a problem that can be shown. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Problem({ status: -1, code: "page", message: `Something went wrong in this page: ${message}` });
}
