import { describe, expect, test } from "bun:test";
import { frameOf, layoutOf } from "../../../src/cli/watch/frame.ts";
import { createInbox } from "../../../src/cli/watch/inbox.ts";
import { line } from "../../../src/cli/watch/lines.ts";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import type { ChangeEvent } from "../../../src/contract/change.ts";

const idOf = (number: number) => `id-${String(number).padStart(4, "0")}`;

function approval(number: number): Approval {
  return {
    id: idOf(number),
    session_id: "session",
    session_name: "worker",
    tool_name: "Bash",
    tool_use_id: null,
    input: { command: `echo ${number}` },
    status: "pending",
    response_message: null,
    updated_input: null,
    created_at: 1_000,
    expires_at: 2_000,
    resolved_at: null,
    resolved_by: null,
  };
}

function asked(number: number): ChangeEvent {
  const { id, session_id, session_name, tool_name, tool_use_id, input, created_at, expires_at } = approval(number);
  const head = {
    type: "approval_requested",
    approval_id: id,
    session_id,
    session_name,
    tool_name,
    tool_use_id,
  } as const;
  return { ...head, tool_input: input, created_at, expires_at };
}

function resolved(number: number): ChangeEvent {
  return {
    type: "approval_resolved",
    approval_id: idOf(number),
    session_id: "session",
    session_name: "worker",
    tool_name: "Bash",
    tool_use_id: null,
    status: "denied",
    response_message: "no",
    updated_input: null,
    resolved_by: "operator",
    resolved_at: 1_500,
  };
}

const approvals = (count: number) => Array.from({ length: count }, (_, number) => approval(number));

describe("the inbox of plexus watch", () => {
  test("keeps what came, and not what went, while the list was being read", () => {
    const inbox = createInbox();
    inbox.beginReading();
    inbox.take(asked(3));
    inbox.take(resolved(1));
    inbox.take(asked(4));
    inbox.take(resolved(4));
    inbox.load(approvals(3));
    expect(inbox.list().map((ask) => ask.approval.id)).toEqual([0, 2, 3].map(idOf));
  });

  test("stays with what is looked at, when others come and go", () => {
    const inbox = createInbox();
    inbox.load(approvals(5));
    inbox.move(2);
    inbox.take(resolved(0));
    inbox.take(asked(7));
    expect(inbox.selected()?.approval.id).toBe(idOf(2));
    inbox.take(resolved(2));
    expect(inbox.selected()).toMatchObject({ outcome: { status: "denied", by: "operator", message: "no" } });
    inbox.next();
    expect(inbox.list().map((ask) => ask.approval.id)).toEqual([1, 3, 4, 7].map(idOf));
    expect(inbox.selected()?.approval.id).toBe(idOf(3));
  });

  test("goes on with the next one after a decision, and with the last one at the end", () => {
    const inbox = createInbox();
    inbox.load(approvals(3));
    inbox.move(1);
    inbox.remove(idOf(1));
    expect(inbox.selected()?.approval.id).toBe(idOf(2));
    inbox.remove(idOf(2));
    expect(inbox.selected()?.approval.id).toBe(idOf(0));
    inbox.remove(idOf(0));
    expect(inbox.selected()).toBeUndefined();
  });
});

describe("a frame of plexus watch", () => {
  const inbox = createInbox();
  inbox.load(approvals(1_000));
  const view = {
    now: 1_100,
    url: "http://127.0.0.1:4445",
    isLive: true,
    asks: inbox.list(),
    scroll: 0,
    message: line(""),
  };
  const detail = Array.from({ length: 500 }, (_, number) => line(`│ line ${number}`));

  test.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [8, 3],
    [300, 100],
  ])("fits in %i columns and %i rows", (columns, rows) => {
    const frame = frameOf({ ...view, size: { columns, rows }, detail, position: 700 });
    expect(frame.length).toBeLessThanOrEqual(rows);
    expect(frame.map((row) => row.map(({ text }) => text).join("")).join("\n")).toContain("▸ ");
  });

  test("shows the part of a long list in which the one that is looked at stands", () => {
    for (const position of [0, 1, 500, 998, 999]) {
      const rows = frameOf({ ...view, size: { columns: 80, rows: 24 }, detail, position });
      const texts = rows.map((row) => row.map(({ text }) => text).join(""));
      expect(texts.filter((text) => text.startsWith("▸"))).toEqual([expect.stringContaining(`echo ${position}`)]);
      expect(texts.filter((text) => text.includes("worker  Bash"))).toHaveLength(
        layoutOf({ columns: 80, rows: 24 }, 1_000).list,
      );
    }
  });
});
