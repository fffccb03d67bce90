import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import { connectClient } from "../../support/mcp/mcp-client.ts";
import { type MortalFamily, startMortalFamily } from "../../support/server/outage.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { bash, textOf } from "../../support/sessions/told-events.ts";
import { askedFor, expectTidy, expectWhole, report } from "../../support/sessions/whole-turn.ts";

setDefaultTimeout(120_000);

const NO_OUTPUT = "(Bash completed with no output)";
describe("plexus serve --takeover", () => {
  test("takes children and port from the server that runs, and no child notices", async () => {
    await using family = await startMortalFamily();
    const [waiting, , busy] = await Promise.all(["waiting", "streaming", "busy"].map((name) => family.create(name)));
    const words = Array.from({ length: 120 }, (_, at) => `word ${at} `);
    const calls = Array.from({ length: 15 }, (_, at) => `toolu_busy_${at}`);
    await family.chat("waiting", [{ use: [bash("touch waited", "toolu_wait")] }]);
    await family.chat("streaming", [{ say: words, delayMs: 50 }]);
    const ask = await family.ask(waiting ?? "");
    await family.chat(
      "busy",
      calls.map((id, at) => ({ use: [bash(`touch busy-${at}`, id)] })),
    );
    await using approver = allowAll(family, busy ?? "");
    await family.told("streaming", (events) => textOf(events).includes("word 10 "));
    await approver.allowed(3);

    const old = family.server;
    const port = watchPort(family.url);
    await family.start(["--takeover"]);
    expect(await old.exited).toBe(0);
    const { refusedMs } = await port.stop();
    expect(refusedMs).toBe(0);
    expect(old.log.some((line) => line.includes("handing over"))).toBe(true);

    await family.allow(ask);
    expectWhole(await family.ended("waiting"), { text: report({ toolu_wait: NO_OUTPUT }), calls: ["toolu_wait"] });
    expectWhole(await family.ended("streaming"), { text: words.join(""), calls: [] });
    const results = Object.fromEntries(calls.map((id) => [id, NO_OUTPUT]));
    expectWhole(await family.ended("busy"), { text: report(results), calls });
    expect(askedFor(family, busy ?? "")).toEqual(calls);
    await expectTidy(family);
  });

  test("starts normally without a running server, and after a killed one", async () => {
    await using family = await startMortalFamily({ args: ["--takeover"] });
    await family.create("waiting");
    await family.chat("waiting", [{ hang: true }]);
    await family.kill();
    expect(existsSync(join(family.dataDir, "server.json"))).toBe(true);
    await family.start();
    expect(await family.call("claudecode_poll", { name: "waiting" })).toMatchObject({ status: "running" });
  });

  test("of two concurrent takeovers one succeeds, and the other says so", async () => {
    await using family = await startMortalFamily();
    await family.create("waiting");
    await family.chat("waiting", [{ hang: true }]);
    const old = family.server;
    const attempts = await Promise.allSettled([family.start(["--takeover"]), family.start(["--takeover"])]);
    expect(await old.exited).toBe(0);
    const won = attempts.filter((attempt) => attempt.status === "fulfilled").map(({ value }) => value);
    const lost = attempts.filter((attempt) => attempt.status === "rejected").map(({ reason }) => String(reason));
    // The second may come so late that it takes over from the first one's server.
    expect([won.length, lost.length]).toEqual(lost.length === 0 ? [2, 0] : [1, 1]);
    for (const reason of lost) expect(reason).toMatch(/taking over|port is in use|Another Plexus serves/);
    expect(await family.call("claudecode_poll", { name: "waiting" })).toMatchObject({ status: "running" });
    expect(family.children().length).toBeGreaterThan(0);
  });
});

/** Allows whatever a session requests, as long as it takes, through changes of the server. */
function allowAll(family: MortalFamily, sessionId: string) {
  const over = new AbortController();
  let count = 0;
  let tell = () => {};
  const work = (async () => {
    while (!over.signal.aborted) {
      try {
        await using client = await connectClient(family.url, OPERATOR_TOKEN);
        const { value } = await client.call("loopback_pending", { session_id: sessionId });
        for (const { id } of Approval.array().parse(value["approvals"])) {
          const { value: answer } = await client.call("loopback_respond", { approval_id: id, approve: true });
          if (answer["type"] === "ok") count++;
          tell();
        }
      } catch {
        // The server changes; the next call finds the new one.
      }
      await Bun.sleep(5);
    }
  })();
  return {
    async allowed(least: number): Promise<void> {
      while (count < least) await new Promise<void>((resolve) => (tell = resolve));
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await work;
    },
  };
}

/** Connects repeatedly, and measures the longest time without an answer at the port. */
function watchPort(url: string) {
  const { hostname, port } = new URL(url);
  let stopped = false;
  let refusedMs = 0;
  const work = (async () => {
    for (let last = performance.now(); !stopped; last = performance.now()) {
      const isOpen = await Bun.connect({ hostname, port: Number(port), socket: { data() {} } }).then(
        (socket) => !socket.end(),
        () => false,
      );
      if (!isOpen) refusedMs += performance.now() - last;
      await Bun.sleep(1);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await work;
      return { refusedMs };
    },
  };
}
