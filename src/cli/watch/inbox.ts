import type { Approval, ApprovalStatus } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { cutApproval } from "../../contract/cut.ts";
import { approvalFromEvent } from "../../review/approval-event.ts";

/** What the list keeps of an ask; all of it is read when somebody looks at it. */
export const LISTED_CHARS = 2_000;

export type Outcome = { status: ApprovalStatus; by: string; message: string | null };
export type Ask = { approval: Approval /** How somebody else has settled it. */; outcome?: Outcome };
export type Inbox = ReturnType<typeof createInbox>;

/** What waits for a decision, oldest first, and which of it is looked at. */
export function createInbox() {
  let asks = new Map<string, Ask>();
  let selectedId: string | undefined;
  /** What came and went while the list was being read, which may be older. */
  let since = { asked: new Set<string>(), settled: new Set<string>() };

  const list = () => [...asks.values()];
  const indexOf = (id: string | undefined) => list().findIndex(({ approval }) => approval.id === id);

  function remove(id: string): void {
    const at = indexOf(id);
    if (at < 0) return;
    asks.delete(id);
    const rest = list();
    if (selectedId === id) selectedId = (rest[at] ?? rest.at(-1))?.approval.id;
  }

  /** What others have settled is shown for as long as somebody looks at it. */
  function select(id: string | undefined): void {
    const left = selectedId;
    selectedId = id;
    if (left !== undefined && left !== id && asks.get(left)?.outcome) asks.delete(left);
  }

  return {
    list,
    size: () => asks.size,
    get: (id: string): Ask | undefined => asks.get(id),
    selected: (): Ask | undefined => asks.get(selectedId ?? ""),
    position: () => indexOf(selectedId),
    remove,

    /** From now on the list is being read. */
    beginReading(): void {
      since = { asked: new Set(), settled: new Set() };
    },

    /** The list as the server has it, oldest first. */
    load(approvals: Approval[]): void {
      const found = approvals.filter(({ id }) => !since.settled.has(id)).map((approval): Ask => ({ approval }));
      const newer = list().filter(({ approval }) => since.asked.has(approval.id));
      const all = [...found, ...newer].map((ask) => [ask.approval.id, ask] as const);
      asks = new Map(all.sort(([one], [other]) => (one < other ? -1 : 1)));
      if (!asks.has(selectedId ?? "")) selectedId = list()[0]?.approval.id;
    },

    /** Takes in what has happened; tells which ask somebody else has settled, if one of these. */
    take(event: ChangeEvent): Ask | undefined {
      if (event.type === "approval_requested") {
        since.asked.add(event.approval_id);
        if (!asks.has(event.approval_id))
          asks.set(event.approval_id, { approval: cutApproval(approvalFromEvent(event), LISTED_CHARS) });
        selectedId ??= event.approval_id;
        return undefined;
      }
      if (event.type !== "approval_resolved") return undefined;
      since.settled.add(event.approval_id);
      since.asked.delete(event.approval_id);
      const { status, resolved_by: by, response_message: message } = event;
      return this.settle(event.approval_id, { status, by, message });
    },

    /** Somebody else has decided it. */
    settle(id: string, outcome: Outcome): Ask | undefined {
      const ask = asks.get(id);
      if (!ask || ask.outcome) return undefined;
      if (id === selectedId) asks.set(id, { ...ask, outcome });
      else remove(id);
      return { ...ask, outcome };
    },

    /** Looks at another one, so many rows further down. */
    move(by: number): void {
      const rows = list();
      const at = Math.min(rows.length - 1, Math.max(0, indexOf(selectedId) + by));
      select(rows[at]?.approval.id);
    },

    /** Looks at the next one, after the last one at the first. */
    next(): void {
      const rows = list();
      select(rows[(indexOf(selectedId) + 1) % Math.max(1, rows.length)]?.approval.id);
    },
  };
}
