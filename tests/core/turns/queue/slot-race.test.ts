import { expect, test } from "bun:test";
import { openQueueWorld } from "./queue-world.ts";
import { openSlotSetup } from "./slot-setup.ts";

const FILED_BEFORE_END = 20;

test("when a new turn and a queued one race for the last slot, one runs and the other is queued", async () => {
  await using setup = await openSlotSetup(1);
  const first = await setup.begin("one", "operator");
  const second = await setup.begin("two", "operator");
  await setup.record.end(first.turn, { status: "complete", error: null });
  const other = await setup.token("other");
  const chosen = await chosenIn(setup);
  expect(chosen.id).toBe(second.turn.id);
  // Both have seen the free slot, and both commands share one transaction.
  const [third, queued] = await Promise.all([setup.begin("three", other.owner), setup.queue.beginQueued(chosen)]);
  expect([third.turn.status, queued?.turn.status ?? "queued"].sort()).toEqual(["queued", "running"]);
  expect(setup.counts()).toEqual({ inSlots: 1, queued: 1 });
});

test("when a start and a cancel of a queued turn race, the first one on disk wins", async () => {
  await using setup = await openSlotSetup(1);
  const first = await setup.begin("one", "operator");
  for (const name of ["two", "three"]) await setup.begin(name, "operator");
  await setup.record.end(first.turn, { status: "complete", error: null });
  const cancel = (id: string) =>
    setup.storage.turns.endIfQueued(id, { status: "cancelled", error: "enough" }, Date.now());
  const two = await chosenIn(setup);
  const [isCancelled, begun] = await Promise.all([cancel(two.id), setup.queue.beginQueued(two)]);
  expect({ isCancelled, begun }).toEqual({ isCancelled: true, begun: undefined });
  const three = await chosenIn(setup);
  const [next, isLate] = await Promise.all([setup.queue.beginQueued(three), cancel(three.id)]);
  expect({ status: next?.turn.status, isLate }).toEqual({ status: "running", isLate: false });
});

test("a turn that is filed in the commit that frees its slot can be cancelled, whoever starts it", async () => {
  await using world = await openQueueWorld(1);
  const { app } = world.plexus;
  await world.start("one");
  const two = await world.session("two");
  let filed = 0;
  for (;;) {
    const turn = await app.turns.start(two, "two\n", false);
    // One of the next turns is filed in the commit that ends "one".
    if (++filed === FILED_BEFORE_END) world.end("one");
    if (turn.status === "running") break;
    const left = await app.turns.cancel(two);
    const status = await app.polls.statusOfSession(two.id);
    expect({ left, status }).toEqual({ left: [], status: "cancelled" });
  }
  expect(await app.turns.cancel(two)).toEqual([]);
  await app.sessionCommands.remove({ kind: "operator" }, two);
});

type SlotSetup = Awaited<ReturnType<typeof openSlotSetup>>;

async function chosenIn({ queue }: Pick<SlotSetup, "queue">) {
  const chosen = await queue.next();
  if (!chosen) throw new Error("nothing may start");
  return chosen;
}
