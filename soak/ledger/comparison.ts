import { z } from "zod";
import { Approval } from "../../src/contract/approvals/approval.ts";
import { AuditReport } from "../../src/contract/audit.ts";
import type { Parent } from "../actors/parents.ts";
import type { Seen, Watcher } from "../actors/watcher.ts";
import type { Setup } from "../crash/setup.ts";
import type { Life } from "../crash/victim.ts";
import { request } from "../crash/wire.ts";
import { answerFor, isSame } from "./decisions.ts";
import type { ChangeRow, Row } from "./disk.ts";
import type { Acknowledged, Answered } from "./ledger.ts";

const AT_ONCE = 16;
const ENOUGH_CHANGES = 20;

/** Compares what the actors know with the database, and with the API's answers. */
export function createComparison(setup: Setup, watchers: Watcher[], timeoutMs: number) {
  const { ledger, verdicts, disk, victim } = setup;
  const due = watchers.map((watcher) => ({ watcher, changes: [] as ChangeRow[] }));
  const announced = { approval_requested: new Set<string>(), approval_resolved: new Set<string>() };
  let comparedTo = 0;
  let unserved: Acknowledged[] = [];

  function checkKept({ approvalId, resolution }: Acknowledged): void {
    const row = disk.row(approvalId);
    const holds = row !== undefined && isSame(row, resolution);
    verdicts.check("kept", holds, () => `${approvalId} was ok as ${show(resolution)}, on disk it is ${show(row)}`);
    const isAnnounced = announced.approval_resolved.has(approvalId);
    verdicts.check("events", isAnnounced, () => `${approvalId} was ok, but there is no event of it`);
  }

  function checkRemembered(approvalId: string): void {
    const row = disk.row(approvalId);
    const ask = ledger.askOf(approvalId);
    const holds =
      row?.session_id === ask?.sessionId &&
      row?.tool_use_id === ask?.toolUseId &&
      Bun.deepEquals(row?.input, ask?.input);
    verdicts.check("remembered", row !== undefined && holds, () => `${approvalId} was ${show(ask)}, is ${show(row)}`);
    const isAnnounced = announced.approval_requested.has(approvalId);
    verdicts.check("events", isAnnounced, () => `${approvalId} was asked, but there is no event of it`);
  }

  function checkAnswer({ approvalId, ask, answer }: Answered): void {
    const row = disk.row(approvalId);
    if (answer["behavior"] === "allow") {
      const isAllowed = row?.status === "allowed";
      verdicts.check("allowed", isAllowed, () => `${approvalId} is ${row?.status}, its child was told ${show(answer)}`);
    }
    const decided = ledger.acknowledgedFor(approvalId) ?? row;
    const right = decided && answerFor(decided, ask.input);
    const holds = Bun.deepEquals(right, answer) && row?.status !== "abandoned";
    verdicts.check("delivered", holds, () => `${approvalId} is ${show(decided)}, its child was told ${show(answer)}`);
    if (ask.isLeft) verdicts.check("deadlines", row?.status === "timed_out", () => `${approvalId} is ${show(row)}`);
  }

  function checkMeant(row: Row): void {
    const { status, resolved_at, expires_at, created_at } = row;
    if (status === "timed_out") {
      const isDue = resolved_at !== null && resolved_at >= expires_at && expires_at === created_at + timeoutMs;
      verdicts.check("deadlines", isDue, () => `it timed out as ${show(row)}`);
      return;
    }
    const isMeant = status === "abandoned" || ledger.sentFor(row.id).some((sent) => isSame(row, sent));
    verdicts.check("meant", isMeant, () => `${show(row)}, but sent was ${show(ledger.sentFor(row.id))}`);
  }

  function checkChange({ kind, approval_id }: ChangeRow): void {
    verdicts.check("once", !announced[kind].has(approval_id), () => `${approval_id} has two events: ${kind}`);
    announced[kind].add(approval_id);
    if (kind !== "approval_resolved") return;
    const row = disk.row(approval_id);
    if (row) checkMeant(row);
    const first = ledger.firstOf(approval_id);
    const agree = !first || (first.status === row?.status && first.resolved_by === row.resolved_by);
    verdicts.check("once", agree, () => `${approval_id} is ${show(row)}, others were told ${show(first)}`);
  }

  /** Checks that each event is the next change in the database that its reader may see. */
  function checkEvents(): void {
    for (const { watcher, changes } of due) {
      for (const seen of watcher.takeSeen()) {
        const next = changes.shift();
        const isNext =
          next?.id === seen.id && next.kind === seen.event.type && next.approval_id === seen.event.approval_id;
        verdicts.check("events", isNext, () => `${watcher.owner} was told ${show(seen)}, on disk comes ${show(next)}`);
        checkContent(seen);
      }
    }
  }

  function checkContent({ event }: Seen): void {
    if (event.type === "approval_requested") {
      const ask = ledger.askOf(event.approval_id);
      const holds = !ask || (ask.toolUseId === event.tool_use_id && Bun.deepEquals(ask.input, event.tool_input));
      verdicts.check("events", holds, () => `${show(event)} was asked as ${show(ask)}`);
      return;
    }
    const row = ledger.acknowledgedFor(event.approval_id) ?? disk.row(event.approval_id);
    const holds =
      row !== undefined && isSame(row, { ...row, ...event, status: row.status }) && row.status === event.status;
    verdicts.check("events", holds, () => `${show(event)} tells of ${show(row)}`);
  }

  /** Checks that a server with this many changes has settled what was overdue at its start. */
  function checkDeadlines(life: Life, changes: number): void {
    const startedAt = performance.timeOrigin + life.startedAt;
    for (const row of disk.pending()) {
      const { created_at, expires_at } = row;
      verdicts.check("deadlines", expires_at === created_at + timeoutMs, () => `it was moved: ${show(row)}`);
      const isForgotten = expires_at < startedAt && changes > ENOUGH_CHANGES;
      verdicts.check("deadlines", !isForgotten, () => `it was forgotten at the start: ${show(row)}`);
    }
  }

  function compareChanges(life: Life): void {
    const changes = disk.changesAfter(comparedTo);
    checkDeadlines(life, changes.length);
    comparedTo = changes.at(-1)?.id ?? comparedTo;
    for (const one of due) {
      one.changes.push(
        ...changes.filter(({ owner }) => one.watcher.owner === "operator" || one.watcher.owner === owner),
      );
    }
    for (const change of changes) checkChange(change);
    checkEvents();
  }

  return {
    /** Call when `life` has ended and no server runs; compares what is new since the last time. */
    afterEnd(life: Life): void {
      const integrity = disk.integrity();
      verdicts.check("intact", integrity === "ok", () => integrity);
      const news = ledger.takeNews();
      if (integrity !== "ok") return;
      compareChanges(life);
      news.told.forEach(checkRemembered);
      news.acknowledged.forEach(checkKept);
      news.answered.forEach(checkAnswer);
      unserved.push(...news.acknowledged);
    },

    /** Call while a server runs that nobody kills; checks what was acknowledged before it. */
    async throughApi(life: Life, parent: Parent): Promise<void> {
      const all = unserved;
      unserved = [];
      for (let start = 0; start < all.length; start += AT_ONCE) {
        await Promise.all(all.slice(start, start + AT_ONCE).map((one) => checkServed(life, parent, one)));
      }
      await checkChained(life, parent);
    },

    /** Call at the very end; compares everything. */
    atEnd(): void {
      const { told, acknowledged } = ledger.everything();
      told.forEach(checkRemembered);
      acknowledged.forEach(checkKept);
      for (const { watcher, changes } of due) {
        verdicts.check(
          "events",
          changes.length === 0,
          () => `${watcher.owner} was not told of ${show(changes.slice(0, 3))}`,
        );
      }
    },
  };

  async function checkServed(life: Life, { token }: Parent, { approvalId, resolution }: Acknowledged): Promise<void> {
    const told = await life.during(async () => {
      const response = await request(`${victim.url}/api/v1/approvals/${approvalId}`, { token });
      return Served.safeParse(await response.json()).data?.approval;
    });
    const holds = told !== undefined && isSame({ ...told, interrupt: resolution.interrupt }, resolution);
    verdicts.check("served", holds, () => `${approvalId} was ok as ${show(resolution)}, the API tells ${show(told)}`);
  }

  async function checkChained(life: Life, { token }: Parent): Promise<void> {
    const report = await life.during(async () => {
      const response = await request(`${victim.url}/api/v1/audit/verify`, { token });
      return AuditReport.safeParse(await response.json()).data;
    });
    verdicts.check("chained", report?.intact === true, () => `the hash chains don't fit: ${show(report)}`);
  }
}

const Served = z.object({ approval: Approval });

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
