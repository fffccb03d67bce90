import { z } from "zod";
import { Approval } from "../../contract/approvals/approval.ts";
import { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import { dangersOf } from "../../review/dangers.ts";
import type { Danger } from "../../review/shell/index.ts";
import type { Server } from "../server/server-client.ts";
import { CommandFailed } from "../terminal/terminal.ts";

/** An ask with all that it takes to judge it. */
export type Examined = { approval: Approval; context: ApprovalContext | undefined; dangers: Danger[] };

export type Examining = ReturnType<typeof createExamining>;

const Whole = z.object({ approval: Approval });
const Context = ApprovalContext.extend({ type: z.literal("ok") });
const MAX_KEPT = 50;

/** Reads whole inputs and what they are about, once for each ask that is looked at. */
export function createExamining(find: () => Server, onExamined: () => void) {
  const kept = new Map<string, Examined>();
  const underWay = new Map<string, Promise<Examined>>();

  async function read(approval: Approval): Promise<Examined> {
    const path = `/api/v1/approvals/${approval.id}`;
    const [whole, context] = await Promise.all([
      unlessRefused(async () => (await find().request(Whole, "GET", path)).approval),
      unlessRefused(() => find().request(Context, "GET", `${path}/context`)),
    ]);
    const isWhole = whole !== undefined && context !== undefined;
    const examined = judged(whole ?? approval, isWhole ? context : undefined);
    underWay.delete(approval.id);
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size >= MAX_KEPT) kept.delete(oldest);
    if (isWhole) kept.set(approval.id, examined);
    onExamined();
    return examined;
  }

  return {
    known: (id: string): Examined | undefined => kept.get(id),
    examine(approval: Approval): Promise<Examined> {
      const known = kept.get(approval.id);
      if (known) return Promise.resolve(known);
      const started = underWay.get(approval.id) ?? read(approval);
      underWay.set(approval.id, started);
      return started;
    },
  };
}

/** What can't be read in full makes an ask a dangerous one. */
export function judged(approval: Approval, context: ApprovalContext | undefined): Examined {
  return { approval, context, dangers: dangersOf(approval, context) };
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof CommandFailed) return undefined;
    throw cause;
  }
}
