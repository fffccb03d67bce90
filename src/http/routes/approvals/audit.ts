import type { App } from "../../../app.ts";
import { exportAudit, verifyAudit } from "../../../contract/routes/audit.ts";
import { ASKED_AT } from "../../../contract/samples.ts";
import { operatorOnly } from "../../middleware/auth.ts";
import { type Served, serve } from "../../serve.ts";
import { allowSilence } from "../../streams/silence.ts";

export type AuditApp = Pick<App, "auditCheck">;

const AT = ASKED_AT * 1000;
const HASH = "0a".repeat(32);

/** The hash chains over decisions; for the operator only, because they contain all owners' decisions. */
export function auditRoutes({ auditCheck }: AuditApp): Served[] {
  return [
    serve(verifyAudit, {
      tag: "Audit",
      summary: "Checks the hash chains against themselves and the decisions on record",
      guards: [operatorOnly],
      answer: {
        says: "What fits, and what does not.",
        example: {
          type: "ok",
          intact: true,
          chains: [
            {
              chain: "decisions",
              entries: 1,
              head: { seq: 0, hash: HASH },
              forgotten_through: -1,
              chained_since: AT,
              first_at: AT,
              head_at: AT,
            },
          ],
          problems: [],
          has_more_problems: false,
        },
      },
    }).by(async ({ c }) => {
      allowSilence(c);
      return auditCheck.verify();
    }),
    serve(exportAudit, {
      tag: "Audit",
      summary: "Every entry of the hash chains, oldest first",
      guards: [operatorOnly],
      lines: {
        says: "One JSON object a line.",
        example: {
          chain: "decisions",
          seq: 0,
          previous: "0".repeat(64),
          hash: HASH,
          entry: `{"kind":"begins","at":${AT},"chained_since":${AT},"unchained":0}`,
        },
      },
    }).by(async () => auditCheck.export()),
  ];
}
