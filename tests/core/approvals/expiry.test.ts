import { describe, expect, test } from "bun:test";
import { openApp } from "../../../src/app.ts";
import { readConfig } from "../../../src/config.ts";
import { MAX_APPROVAL_TIMEOUT_SECS } from "../../../src/contract/approvals/approval.ts";
import { createDeadline } from "../../../src/core/approvals/deadline.ts";
import { createLog } from "../../../src/log.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { allow, OPERATOR, openCore, stoppedClock, temporaryCore } from "../open-core.ts";

const DAY_MS = 86_400_000;
const realTime = { now: Date.now };

describe("a deadline", () => {
  test("denies the request when it is reached, and says so", async () => {
    await using core = await temporaryCore({ clock: realTime, timeoutSecs: 0.03 });
    using ask = await core.ask({ ...(await core.session()), loopbackTimeoutSecs: null });
    expect(await ask.answer()).toEqual({
      behavior: "deny",
      message: "Approval timed out: nobody decided within 0 seconds. The tool was not run.",
    });
    expect(await core.approvals.get(OPERATOR, ask.approvalId)).toMatchObject({
      status: "timed_out",
      resolved_by: "timeout",
    });
  });

  test("says how long the request waited", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 42 });
    using ask = await core.ask(await core.session());
    clock.advance(50_000);
    await core.approvals.expire();
    expect(await ask.answer()).toMatchObject({ message: expect.stringContaining("within 42 seconds") });
  });

  test("that is earlier than the known ones fires first, and the others still fire", async () => {
    await using core = await temporaryCore({ clock: realTime });
    const session = await core.session();
    const askFor = (seconds: number) => core.ask({ ...session, loopbackTimeoutSecs: seconds });
    const asks = await Promise.all([3_600, 0.06, 0.02, 0.04].map(askFor));
    const ended: number[] = [];
    await Promise.all(asks.slice(1).map((ask, number) => ask.answer().then(() => ended.push(number))));
    expect(ended).toEqual([1, 2, 0]);
    expect((await core.approvals.get(OPERATOR, asks[0]?.approvalId ?? "")).status).toBe("pending");
  });

  test("settles thousands of requests that are due together", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 10 });
    const session = await core.session();
    const asks = await Promise.all(Array.from({ length: 1_200 }, () => core.ask(session)));
    clock.advance(10_000);
    await core.approvals.expire();
    const answers = await Promise.all(asks.map((ask) => ask.answer()));
    expect(new Set(answers.map(({ behavior }) => behavior))).toEqual(new Set(["deny"]));
    expect(await core.storage.approvals.nextDeadline()).toBeUndefined();
  });

  test("fires once, and not early when the clock is set back", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 10 });
    using ask = await core.ask(await core.session());
    clock.advance(-3_600_000);
    await core.approvals.expire();
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("pending");
    clock.advance(3_610_000);
    await core.approvals.expire();
    await core.approvals.expire();
    expect((await core.approvals.get(OPERATOR, ask.approvalId)).status).toBe("timed_out");
    expect(await core.storage.changes.newestId()).toBe(2);
  });

  test("that is seven days away fires, and not a millisecond early", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock });
    const asked = { ...(await core.session()), loopbackTimeoutSecs: MAX_APPROVAL_TIMEOUT_SECS };
    using ask = await core.ask(asked);
    const status = async () => (await core.approvals.get(OPERATOR, ask.approvalId)).status;
    clock.advance(7 * DAY_MS - 1);
    await core.approvals.expire();
    expect(await status()).toBe("pending");
    clock.advance(1);
    await core.approvals.expire();
    expect(await status()).toBe("timed_out");
    expect(await ask.answer()).toMatchObject({ message: expect.stringContaining("within 604800 seconds") });
  });

  test("is noticed by the periodic re-read when the clock jumps past it", async () => {
    const clock = stoppedClock();
    await using core = await temporaryCore({ clock, timeoutSecs: 3_600, rereadEveryMs: 10 });
    using ask = await core.ask(await core.session());
    clock.advance(3_600_000);
    expect(await ask.answer()).toMatchObject({ behavior: "deny" });
  });
});

describe("expires_at", () => {
  test("is neither extended nor forgotten by a restart", async () => {
    await using directory = await temporaryDirectory();
    const clock = stoppedClock();
    const config = readConfig({ dataDir: directory.path, approvalTimeoutSecs: "60" }, {});
    const open = () =>
      openApp(
        config,
        createLog("silent", () => {}),
        { now: clock.now },
      );
    let id: string;
    {
      await using app = await open();
      const session = await app.sessions.createByHand(OPERATOR, "child");
      id = (await app.approvals.request(session, { tool_name: "Bash", input: {}, tool_use_id: "toolu_1" })).approvalId;
    }
    clock.advance(40_000);
    const before = clock.now();
    {
      await using app = await open();
      const { status, created_at, expires_at } = await app.approvals.get(OPERATOR, id);
      expect([status, expires_at - created_at, expires_at * 1000 - before]).toEqual(["pending", 60, 20_000]);
    }
    clock.advance(20_000);
    await using app = await open();
    expect(await app.approvals.decide(OPERATOR, id, allow)).toMatchObject({
      status: "timed_out",
      resolved_by: "timeout",
    });
  });

  test("that passed while no server ran is noticed at the start", async () => {
    await using directory = await temporaryDirectory();
    const clock = stoppedClock();
    let id: string;
    {
      using core = await openCore(directory.path, { clock, timeoutSecs: 10 });
      id = (await core.ask(await core.session())).approvalId;
    }
    clock.advance(11_000);
    using core = await openCore(directory.path, { clock });
    await until("the time-out", async () => (await core.approvals.get(OPERATOR, id)).status === "timed_out");
  });
});

describe("createDeadline", () => {
  test("keeps one timer, for the earliest deadline", async () => {
    const clock = stoppedClock();
    const due = Promise.withResolvers<void>();
    let calls = 0;
    using deadline = createDeadline({
      now: clock.now,
      onDue() {
        calls++;
        due.resolve();
      },
    });
    for (const ms of [9_000, 20, 8_000, 10, 7_000]) deadline.at(clock.now() + ms);
    await due.promise;
    expect(calls).toBe(1);
  });

  test.each([
    ["seven days away", 7 * DAY_MS],
    ["further away than a timer can count", 2 ** 31 + 1_000],
  ])("does not fire at once for a deadline %s", async (_, ms) => {
    const clock = stoppedClock();
    const fired: string[] = [];
    using far = createDeadline({ now: clock.now, onDue: () => fired.push("far") });
    const near = Promise.withResolvers<void>();
    using soon = createDeadline({ now: clock.now, onDue: near.resolve });
    far.at(clock.now() + ms);
    soon.at(clock.now() + 20);
    await near.promise;
    expect(fired).toEqual([]);
  });

  test("does not fire once disposed, even if a deadline is added", async () => {
    const clock = stoppedClock();
    const fired: string[] = [];
    const old = createDeadline({ now: clock.now, onDue: () => fired.push("old") });
    old.at(clock.now() + 1);
    old[Symbol.dispose]();
    old.at(clock.now());
    const later = Promise.withResolvers<void>();
    using next = createDeadline({ now: clock.now, onDue: later.resolve });
    next.at(clock.now() + 20);
    await later.promise;
    expect(fired).toEqual([]);
  });
});
