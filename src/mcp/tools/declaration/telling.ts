import type { KnownRequest } from "../../../app.ts";
import type { ToldApproval } from "../../../contract/approvals/approval.ts";
import type { ToolCall } from "./tool.ts";

/** A request that takes more is told in full only once. */
export const LONG_CHARS = 1_500;
/** An answer can't hold an input that is longer, and hardly tells more than this of what is cut. */
const LONGEST_CHARS = 38_000;
const MOST_CHARS = 30_000;

export type Telling = ReturnType<typeof tellingOf>;

/** What the reader of this call's answer was told before, and is told now. */
export function tellingOf({ app, principal, client, signal }: ToolCall, consumer?: string) {
  const reader = app.eventFeed.readerOf(principal, { consumer, client });
  return {
    known: (id: string): KnownRequest | undefined => app.toldRequests.known(reader, id),

    /** Notes what the answer tells of long requests, unless nobody listens any more. */
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

    /** Notes that the answer has a slice of the text of a request's input. */
    noteSlice(id: string, slice: { from: number; to: number }, total: number): void {
      if (!signal.aborted && total > LONG_CHARS) app.toldRequests.read(reader, id, slice, total);
    },
  };
}
