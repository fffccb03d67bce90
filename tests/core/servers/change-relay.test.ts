import { describe, expect, test } from "bun:test";
import type { Change } from "../../../src/contract/change.ts";
import { createChangeRelay } from "../../../src/core/servers/change-relay.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { until } from "../../support/until.ts";

const change = (id: number): Change => ({
  id,
  kind: "turn_ended",
  owner: "operator",
  sessionId: "session",
  subjectId: `turn-${id}`,
  at: id,
});

/** A relay that follows a table of changes, and the changes that it has published. */
async function openRelay(known: number[] = []) {
  const table = known.map(change);
  const told: number[] = [];
  const errors: unknown[] = [];
  const relay = createChangeRelay(
    (changes) => told.push(...changes.map(({ id }) => id)),
    (cause) => errors.push(cause),
  );
  const changes = {
    newestId: async () => table.at(-1)?.id ?? 0,
    listAfter: async (cursor: number, _: string | undefined, limit: number) =>
      table.filter(({ id }) => id > cursor).slice(0, limit),
  } as Storage["changes"];
  await relay.follow({ changes });
  return { relay, table, told, errors };
}

describe("the relay of changes", () => {
  test("publishes its own changes at once, and none from before it started", async () => {
    const { relay, told } = await openRelay([1, 2]);
    relay.committed([change(3), change(4)]);
    relay.committed([]);
    expect(told).toEqual([3, 4]);
  });

  test("publishes changes of others first if they come before its own", async () => {
    const { relay, table, told } = await openRelay([1]);
    table.push(change(2), change(3), change(4));
    relay.committed([change(4)]);
    expect(told).toEqual([]);
    await until("all to be told", () => told.length === 3);
    relay.committed([change(5)]);
    expect(told).toEqual([2, 3, 4, 5]);
  });

  test("publishes each once, however often it reads and whatever is committed meanwhile", async () => {
    const { relay, table, told } = await openRelay();
    for (let id = 1; id <= 1_200; id++) {
      table.push(change(id));
      if (id % 7 === 0) relay.committed([change(id)]);
      if (id % 5 === 0) relay.catchUp();
      if (id % 100 === 0) await Promise.resolve();
    }
    relay.catchUp();
    await until("all to be told", () => told.length >= 1_200);
    expect(told).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1));
  });

  test("continues after a read that failed", async () => {
    const { relay, table, told, errors } = await openRelay();
    table.push(change(1));
    const { filter } = table;
    table.filter = () => {
      throw new Error("no disk");
    };
    relay.catchUp();
    await until("the failure to be reported", () => errors.length === 1);
    table.filter = filter;
    relay.catchUp();
    await until("it to be told", () => told.length === 1);
  });
});
