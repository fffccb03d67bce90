import type { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import { seconds } from "../../contract/values.ts";
import type { Storage } from "../../storage/storage.ts";
import type { UnaskedCallRow } from "../../storage/unasked-calls.ts";
import { type Principal, visibleOwner } from "../access/principals.ts";

export type UnaskedCalls = ReturnType<typeof createUnaskedCalls>;

/** Calls that ran although Plexus had not allowed them. */
export function createUnaskedCalls({ storage }: { storage: Pick<Storage, "unaskedCalls"> }) {
  return {
    /** One page of the calls that the caller may see, newest first. */
    async list(
      principal: Principal,
      {
        sessionId,
        turnId,
        ...page
      }: { sessionId?: string | undefined; turnId?: string | undefined } & {
        cursor?: string | undefined;
        limit: number;
      },
    ): Promise<{ calls: UnaskedCall[]; cursor: string | null }> {
      const scope = { owner: visibleOwner(principal), sessionId, turnId };
      const { rows, hasMore } = await storage.unaskedCalls.list(scope, page);
      return { calls: rows.map(toUnaskedCall), cursor: hasMore ? (rows.at(-1)?.id ?? null) : null };
    },
  };
}

export function toUnaskedCall(row: UnaskedCallRow): UnaskedCall {
  return {
    id: row.id,
    session_id: row.sessionId,
    session_name: row.sessionName,
    turn_id: row.turnId,
    tool_name: row.toolName,
    tool_use_id: row.toolUseId,
    tool_input: row.input,
    supervision: row.supervision,
    at: seconds(row.at),
  };
}
