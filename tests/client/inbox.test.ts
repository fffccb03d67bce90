import { describe, expect, test } from "bun:test";
import { createInbox, type Inbox, type InboxItem } from "../../src/client/inbox.ts";
import { approval, approvals, idOf, requested, resolved } from "./requests.ts";

const SHOWN_MS = 20_000;

/** An inbox with a clock that the test sets. */
function inboxAt(settledShownMs: number) {
  const clock = { ms: 0 };
  return { clock, inbox: createInbox({ now: () => clock.ms, settledShownMs }) };
}

const idsOf = (items: InboxItem[]) => items.map((item) => item.approval.id);
const selectedId = (inbox: Inbox) => inbox.selected()?.approval.id;
const outcome = { status: "allowed", by: "operator", at: 1_500, message: null, lost: true } as const;

describe("the inbox, while the list is read", () => {
  test("keeps requests that arrive, and drops those that end", () => {
    const { inbox } = inboxAt(0);
    inbox.beginReading();
    inbox.take([requested(3), resolved(1), requested(4), resolved(4)]);
    inbox.load(approvals(3));
    expect(idsOf(inbox.list())).toEqual([0, 2, 3].map(idOf));
  });

  test("does not bring back a request decided here meanwhile", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(3));
    inbox.beginReading();
    inbox.remove(idOf(0));
    inbox.settle(idOf(2), outcome);
    inbox.load(approvals(3));
    expect(idsOf(inbox.list())).toEqual([idOf(1)]);
  });

  test("drops requests that the server no longer lists, except the selected one, with its outcome", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(4));
    inbox.select(idOf(1));
    inbox.beginReading();
    inbox.load([approval(2)], { approval: approval(1), outcome });
    expect(idsOf(inbox.list())).toEqual([1, 2].map(idOf));
    expect(inbox.selected()?.outcome).toEqual(outcome);
    inbox.beginReading();
    inbox.load([approval(2)]);
    expect(selectedId(inbox)).toBe(idOf(1));
  });
});

describe("the selection of the inbox", () => {
  test("stays on a request when others come and go", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(5));
    inbox.move(2);
    inbox.take([resolved(0), requested(7)]);
    expect(selectedId(inbox)).toBe(idOf(2));
    inbox.take([resolved(2)]);
    expect(inbox.selected()).toMatchObject({ outcome: { status: "denied", by: "operator", message: "no" } });
    inbox.next();
    expect(idsOf(inbox.list())).toEqual([1, 3, 4, 7].map(idOf));
    expect(selectedId(inbox)).toBe(idOf(3));
  });

  test("moves to the next request after a decision, or to the previous one at the end", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(3));
    inbox.move(1);
    inbox.remove(idOf(1));
    expect(selectedId(inbox)).toBe(idOf(2));
    inbox.remove(idOf(2));
    expect(selectedId(inbox)).toBe(idOf(0));
    inbox.remove(idOf(0));
    expect(selectedId(inbox)).toBeUndefined();
  });

  test("skips requests decided by others when it moves by itself", () => {
    const { inbox } = inboxAt(SHOWN_MS);
    inbox.load(approvals(3));
    inbox.take([resolved(1)]);
    inbox.remove(idOf(0));
    expect(selectedId(inbox)).toBe(idOf(2));
  });

  test("stops at both ends, but wraps around with next", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(3));
    inbox.move(Number.POSITIVE_INFINITY);
    expect(selectedId(inbox)).toBe(idOf(2));
    inbox.next();
    expect(selectedId(inbox)).toBe(idOf(0));
    inbox.move(-1);
    expect(selectedId(inbox)).toBe(idOf(0));
  });

  test("begins with the first request that arrives", () => {
    const { inbox } = inboxAt(0);
    inbox.load([]);
    inbox.take([requested(5), requested(6)]);
    expect(selectedId(inbox)).toBe(idOf(5));
  });
});

describe("a request that somebody else has decided", () => {
  test("stays in the list for its time, or as long as it is selected", () => {
    const { clock, inbox } = inboxAt(SHOWN_MS);
    inbox.load(approvals(3));
    inbox.take([resolved(0), resolved(1)]);
    expect(idsOf(inbox.list())).toEqual([0, 1, 2].map(idOf));
    clock.ms = SHOWN_MS;
    inbox.tidy();
    expect(idsOf(inbox.list())).toEqual([0, 2].map(idOf));
    inbox.select(idOf(2));
    expect(idsOf(inbox.list())).toEqual([idOf(2)]);
  });

  test("keeps its outcome, unless our own decision reports who was first", () => {
    const { inbox } = inboxAt(SHOWN_MS);
    inbox.load(approvals(1));
    expect(inbox.take([resolved(0)]).settled).toHaveLength(1);
    expect(inbox.take([resolved(0)]).settled).toEqual([]);
    inbox.settle(idOf(0), outcome);
    expect(inbox.selected()?.outcome).toEqual(outcome);
  });

  test("is neither pending nor checked any more", () => {
    const { inbox } = inboxAt(SHOWN_MS);
    inbox.load(approvals(2));
    inbox.setChecked([0, 1].map(idOf), true);
    inbox.take([resolved(1)]);
    expect(inbox.isPending(idOf(1))).toBe(false);
    expect(idsOf(inbox.checked())).toEqual([idOf(0)]);
    expect(idsOf(inbox.pending())).toEqual([idOf(0)]);
  });
});

describe("the inbox", () => {
  test("notifies once for simultaneous events, and only about requests that are still pending", () => {
    const { inbox } = inboxAt(0);
    let changes = 0;
    const stop = inbox.onChange(() => changes++);
    const { asked } = inbox.take([requested(1), requested(2), resolved(1), requested(2)]);
    expect(idsOf(asked)).toEqual([idOf(2)]);
    expect(changes).toBe(1);
    stop();
    inbox.take([requested(3)]);
    expect(changes).toBe(1);
  });

  test("keeps no more of an input than a list shows", () => {
    const { inbox } = inboxAt(0);
    const event = requested(1);
    if (event.type !== "approval_requested") throw new Error("a request is one");
    inbox.take([{ ...event, tool_input: { command: "x".repeat(1_000_000) } }]);
    expect(JSON.stringify(inbox.list()).length).toBeLessThan(5_000);
    expect(inbox.selected()?.approval.truncated).toBe(true);
  });
});

describe("the inbox, arranged", () => {
  test("lists, selects and moves in that order, and also counts unlisted requests", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(4));
    inbox.arrange((all) => all.filter(({ approval }) => approval.id !== idOf(0)).toReversed());
    expect(idsOf(inbox.list())).toEqual([3, 2, 1].map(idOf));
    expect(idsOf(inbox.pending())).toEqual([0, 1, 2, 3].map(idOf));
    expect(selectedId(inbox)).toBe(idOf(3));
    inbox.move(1);
    expect(selectedId(inbox)).toBe(idOf(2));
    inbox.remove(idOf(2));
    expect(selectedId(inbox)).toBe(idOf(1));
    inbox.take([requested(5)]);
    expect(idsOf(inbox.list())).toEqual([5, 3, 1].map(idOf));
  });
});

describe("a request whose denial is held", () => {
  test("is listed, but is not open and can't be checked, until it is released", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(3));
    inbox.setChecked([idOf(0), idOf(1)], true);
    inbox.setHeld([idOf(0), idOf(1)], true);
    inbox.moveOn();
    expect(idsOf(inbox.list())).toEqual([0, 1, 2].map(idOf));
    expect(idsOf(inbox.pending())).toEqual([idOf(2)]);
    expect([inbox.isPending(idOf(0)), inbox.checked()]).toEqual([false, []]);
    expect(selectedId(inbox)).toBe(idOf(2));
    inbox.setHeld([idOf(0)], false);
    expect(idsOf(inbox.pending())).toEqual([0, 2].map(idOf));
    expect(inbox.checked()).toEqual([]);
  });

  test("stays selected if no other request is open", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(1));
    inbox.setHeld([idOf(0)], true);
    inbox.moveOn();
    expect(selectedId(inbox)).toBe(idOf(0));
  });

  test("ends when somebody else decides it, and is dropped when the server no longer lists it", () => {
    const { inbox } = inboxAt(0);
    inbox.load(approvals(3));
    inbox.setHeld([idOf(1), idOf(2)], true);
    expect(inbox.take([resolved(1)]).settled).toMatchObject([{ outcome: { status: "denied", by: "operator" } }]);
    expect(inbox.list().find((item) => item.approval.id === idOf(1))?.isHeld).toBeUndefined();
    inbox.beginReading();
    inbox.load([approval(0)]);
    expect(inbox.list().some((item) => item.approval.id === idOf(2))).toBe(false);
  });
});
