import { z } from "zod";
import { Approval } from "../../contract/approvals/approval.ts";
import { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import { dangersOf } from "../../review/dangers.ts";
import type { Danger } from "../../review/shell/index.ts";
import { callersOwn } from "../wire/callers-own.ts";
import { request } from "../wire/request.ts";

/** An ask with all that it takes to judge it. */
export type Examined = { approval: Approval; context: ApprovalContext | undefined; dangers: Danger[] };

const MAX_KEPT = 100;

/** What was looked at last. */
export const examined = callersOwn<ReadonlyMap<string, Examined>>(new Map());
const underWay = new Map<string, Promise<Examined>>();

/** Reads the whole input and the place it is about. What can't be read makes the ask a dangerous one. */
export function examine(approval: Approval): Promise<Examined> {
  const known = examined.peek().get(approval.id);
  if (known) return Promise.resolve(known);
  const started = underWay.get(approval.id) ?? read(approval);
  underWay.set(approval.id, started);
  return started;
}

/** Looks again, at what may have changed meanwhile. */
export function forgetExamined(id: string): void {
  examined.value = new Map([...examined.peek()].filter(([other]) => other !== id));
}

async function read(approval: Approval): Promise<Examined> {
  const path = `/api/v1/approvals/${encodeURIComponent(approval.id)}`;
  const [whole, context] = await Promise.all([
    approval.truncated ? request(z.object({ approval: Approval }), "GET", path).catch(() => undefined) : { approval },
    request(ApprovalContext.extend({ type: z.literal("ok") }), "GET", `${path}/context`).catch(() => undefined),
  ]);
  const result: Examined = {
    approval: whole?.approval ?? approval,
    context,
    dangers: dangersOf(whole?.approval ?? approval, whole && context),
  };
  underWay.delete(approval.id);
  if (whole && context) {
    const kept = [...examined.peek()].filter(([id]) => id !== approval.id).slice(1 - MAX_KEPT);
    examined.value = new Map([...kept, [approval.id, result]]);
  }
  return result;
}
