import type { KnownRequest } from "../../../app.ts";
import type { ToldApproval } from "../../../contract/approvals/approval.ts";
import type { ToolCall } from "./tool.ts";

/** Requests longer than this are shown in full only once. */
export const LONG_CHARS = 1_500;
/** Larger inputs do not fit into any answer, and a cut approval shows hardly more than MOST_CHARS. */
const LONGEST_CHARS = 38_000;
const MOST_CHARS = 30_000;

export type Telling = ReturnType<typeof tellingOf>;

/** Tracks which long requests the reader of this answer has already seen, and which it sees now. */
export function tellingOf({ app, principal, client, signal }: ToolCall, consumer?: string) {
  const reader = app.eventFeed.readerOf(principal, { consumer, client });
  return {
    known: (id: string): KnownRequest | undefined => app.toldRequests.known(reader, id),

    /** Notes the long requests in the answer, unless the caller no longer listens. */
    note(approvals: readonly ToldApproval[]): void {
      if (signal.aborted) return;
      for (const approval of approvals) {
        const { id, truncated, input_size = 0, cut_at } = approval;
        const size = JSON.stringify(approval).length;
        if (!truncated && size <= LONG_CHARS) continue;
        const isAll = !truncated || input_size > LONGEST_CHARS || size > MOST_CHARS;
        app.toldRequests.told(reader, id, { cutAt: cut_at, isAll });
      }
    },

    /** Notes that the answer contains a slice of a request's input. */
    noteSlice(id: string, slice: { from: number; to: number }, total: number): void {
      if (!signal.aborted && total > LONG_CHARS) app.toldRequests.read(reader, id, slice, total);
    },
  };
}
