import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { firstAndLast } from "../../support/alike-rows.ts";
import { withWaitingParent } from "../../support/claude/waiting-parent.ts";
import { permitMessage, post } from "../../support/mcp/raw-mcp.ts";
import { script } from "../../support/model/scripted-model.ts";
import { plexusBinary } from "../../support/server/binary.ts";
import { type MortalFamily, startMortalFamily } from "../../support/server/outage.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(180_000);

/** An answer takes a tenth of a second. If the connection closes without one, the parent waits 20 to 300 s. */
const AT_ONCE_MS = 10_000;
/** The time after which the CLI comes back, with a margin. */
const BACK_WITHIN_MS = 20_000;
const WAIT = { tool: "loopback_wait", input: { timeout_secs: 100 } };

const startFamily = async (): Promise<MortalFamily> => startMortalFamily({ program: [await plexusBinary()] });

describe("Claude Code as the parent, which waits in loopback_wait", () => {
  const ways: [string, (family: MortalFamily) => Promise<unknown>][] = [
    ...firstAndLast(["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const).map(
      (signal): [string, (family: MortalFamily) => Promise<unknown>] => [
        signal,
        async (family) => {
          expect(await family.stop(signal)).toBe(0);
          await family.start();
        },
      ],
    ),
    ["--takeover", (family) => family.start(["--takeover"])],
  ];
  test.each(ways)("gets a time-out with its cursor at once when the server ends by %s", async (_, end) => {
    await using family = await startFamily();
    await family.create("busy");
    await family.chat("busy", [{ hang: true }]);
    await withWaitingParent(family, WAIT, async (parent) => {
      const since = performance.now();
      const ending = end(family);
      const { result, value, afterMs } = await parent.told(since);
      expect(result.is_error).toBe(false);
      expect(value).toMatchObject({ type: "timeout", cursor: expect.any(Number) });
      expect(afterMs).toBeLessThan(AT_ONCE_MS);
      await ending;
    });
  });

  test("goes on with the server that took over", async () => {
    await using family = await startFamily();
    await family.create("busy");
    await family.chat("busy", [{ hang: true }]);
    await withWaitingParent(family, WAIT, async (parent) => {
      await family.start(["--takeover"]);
      expect(JSON.parse((await parent.wentOn()).content)).toMatchObject({ type: "ok" });
    });
  });

  test("comes back after kill -9, twice, and gets the requests made meanwhile", async () => {
    await using family = await startFamily();
    await family.create("busy");
    await family.chat("busy", [{ hang: true }]);
    const child = await family.parent.call("loopback_configure", {});
    const token = /plx_[\w-]+/.exec(child.text)?.[0] ?? "";
    await withWaitingParent(family, WAIT, async (parent) => {
      await family.crash();
      await until("the parent to come back", () => family.server.log.some((line) => line.includes("call resumed")));
      await parent.settled();
      const since = performance.now();
      await family.crash();
      const asked = await post(family.url, permitMessage({ command: "ls" }), { token });
      const { value, afterMs } = await parent.told(since, BACK_WITHIN_MS);
      expect(value).toMatchObject({ type: "ok", approvals: [{ tool_name: "Bash", input: { command: "ls" } }] });
      expect(afterMs).toBeLessThan(BACK_WITHIN_MS);
      expect(JSON.parse((await parent.wentOn()).content)).toMatchObject({ approvals: [{ tool_name: "Bash" }] });
      asked.disconnect();
    });
  });
});

describe("Claude Code as the parent, which waits in claudecode_chat", () => {
  const chat = { tool: "claudecode_chat", input: { name: "worker", wait_secs: 100 } };
  const work = script([{ say: "begun", waitFor: "the test" }]);

  test("gets the state of the turn when the server hands over", async () => {
    await using family = await startFamily();
    await family.create("worker");
    await withWaitingParent(family, { ...chat, input: { ...chat.input, prompt: work } }, async (parent) => {
      const since = performance.now();
      const ending = family.start(["--takeover"]);
      const { value, afterMs } = await parent.told(since);
      expect(value).toMatchObject({ type: "ok", status: "running" });
      expect(afterMs).toBeLessThan(AT_ONCE_MS);
      await ending;
      family.model.release("the test");
      expect(await family.ended("worker")).toMatchObject({ status: "complete" });
    });
  });

  test("comes back after kill -9 for the end of its turn, and starts no other", async () => {
    await using family = await startFamily();
    await family.create("worker");
    await withWaitingParent(family, { ...chat, input: { ...chat.input, prompt: work } }, async (parent) => {
      const since = performance.now();
      await family.crash();
      family.model.release("the test");
      const { value, afterMs } = await parent.told(since, BACK_WITHIN_MS);
      expect(value).toMatchObject({ type: "ok", status: "complete", text: "begun" });
      expect(afterMs).toBeLessThan(BACK_WITHIN_MS);
      expect((await family.call("claudecode_streams", {})).streams).toHaveLength(1);
    });
  });
});

describe("the official MCP client as the parent", () => {
  test("comes back after kill -9 for each of the calls that waited, and its other calls go on", async () => {
    await using family = await startFamily();
    await family.create("worker");
    const waiting = new Set<string>();
    const called = async (tool: string, args: object) => {
      const answer = family.parent.call(tool, args, { onprogress: () => void waiting.add(tool) });
      await until(`${tool} to wait`, () => waiting.has(tool));
      return { answer };
    };
    const prompt = script([{ say: "begun", waitFor: "the test" }]);
    const chat = await called("claudecode_chat", { name: "worker", prompt, wait_secs: 100 });
    const wait = await called("loopback_wait", { timeout_secs: 100 });
    await family.crash();
    expect(await family.call("claudecode_list", {})).toMatchObject({ sessions: [{ name: "worker" }] });
    family.model.release("the test");
    expect((await chat.answer).value).toMatchObject({ type: "ok", status: "complete", text: "begun" });
    expect((await wait.answer).value).toMatchObject({ type: "ok", finished: [{ name: "worker", status: "complete" }] });
    expect(await family.call("claudecode_list", {})).toMatchObject({ sessions: [{ name: "worker" }] });
  });
});
