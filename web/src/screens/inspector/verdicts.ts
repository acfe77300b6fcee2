// Words for verification results.
import type { Schemas } from "../../api/client";

export type Verdict = "valid" | "imported" | "redacted" | "incomplete" | "invalid";
export const VERDICTS: Verdict[] = ["valid", "imported", "redacted", "incomplete", "invalid"];

export const VERDICT_WORDS: Record<
  Verdict,
  { label: string; what: string; kind: "success" | "plain" | "warning" | "danger" }
> = {
  valid: { label: "Valid", what: "Unaltered.", kind: "success" },
  imported: { label: "Imported", what: "Unaltered. The author is not proved.", kind: "plain" },
  redacted: {
    label: "Redacted",
    what: "The content was redacted. The hash remains.",
    kind: "plain",
  },
  incomplete: { label: "Incomplete", what: "Data covered by its hash is missing.", kind: "warning" },
  invalid: { label: "Altered", what: "The content differs from its hash.", kind: "danger" },
};

export const asVerdict = (verdict: string | null | undefined): Verdict | undefined =>
  VERDICTS.find((one) => one === verdict);

export type Report = Schemas["VerificationView"];
type Link = Schemas["ProvenanceView"]["data"][number];

/** Adds links up as the server adds up a path; they come from the node towards the root. */
export function reportOf(links: readonly Pick<Link, "nodeId" | "verdict">[]): Report {
  const counts = { valid: 0, imported: 0, redacted: 0, incomplete: 0, invalid: 0 };
  let worst: Verdict = "valid";
  let firstNodeId: string | null = null;
  for (const link of [...links].reverse()) {
    const verdict = asVerdict(link.verdict);
    if (!verdict) continue;
    counts[verdict]++;
    if (VERDICTS.indexOf(verdict) > VERDICTS.indexOf(worst)) [worst, firstNodeId] = [verdict, link.nodeId];
  }
  const nodes = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { verdict: worst, firstNodeId, nodes, counts };
}

/** Result of verifying the whole store. */
export interface Audit {
  ok: boolean;
  items: number;
  sealed: number;
  unsealed: number;
  redacted: number;
  owners: number;
  head: string;
  breaks: {
    table: string;
    row: string;
    problem: string;
    expected?: string | null;
    found?: string | null;
    lastGood?: string | null;
  }[];
}
export const asAudit = (result: unknown): Audit => result as Audit;
