import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { isRunning } from "../../support/processes/processes.ts";
import { startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, textOf } from "../../support/sessions/told-events.ts";
import { askedFor, expectTidy, expectWhole, report } from "../../support/sessions/whole-turn.ts";

setDefaultTimeout(120_000);

const NO_OUTPUT = "(Bash completed with no output)";

describe("SIGUSR2", () => {
  test("ends the server with exit code 0, and its children go on to the next one", async () => {
    await using family = await startMortalFamily();
    const waiting = await family.create("waiting");
    await family.create("streaming");
    const words = Array.from({ length: 100 }, (_, at) => `word ${at} `);
    await family.chat("waiting", [{ use: [bash("touch a", "toolu_a")] }, { use: [bash("touch b", "toolu_b")] }]);
    await family.chat("streaming", [{ say: words, delayMs: 50 }]);
    const ask = await family.ask(waiting);
    await family.told("streaming", (events) => textOf(events).includes("word 10 "));
    const before = family.children().map(({ pid }) => pid);

    expect(await family.stop("SIGUSR2")).toBe(0);
    expect(before.filter(isRunning)).toEqual(before);
    await family.start();
    await family.allow(ask);
    const second = await family.ask(waiting);
    expect(second.id).not.toBe(ask.id);
    await family.allow(second);

    const calls = ["toolu_a", "toolu_b"];
    const turn = await family.ended("waiting");
    expectWhole(turn, { text: report({ toolu_a: NO_OUTPUT, toolu_b: NO_OUTPUT }), calls });
    expect(eventsOf(turn.events, "approval_resolved")).toHaveLength(2);
    expect(askedFor(family, waiting)).toEqual(calls);
    expectWhole(await family.ended("streaming"), { text: words.join(""), calls: [] });
    await expectTidy(family);
  });
});

describe("a server that can't serve", () => {
  test("leaves the last server's children alone, and the next server finds them", async () => {
    await using family = await startMortalFamily();
    await family.create("waiting");
    await family.chat("waiting", [{ hang: true }]);
    await family.kill();
    const before = family.children().map(({ pid }) => pid);
    {
      using _ = Bun.listen({ hostname: "127.0.0.1", port: Number(new URL(family.url).port), socket: { data() {} } });
      const refused = await family.start().catch((cause) => String(cause));
      expect(refused).toContain("the port is in use");
    }
    expect(before.length).toBeGreaterThan(0);
    expect(before.filter(isRunning)).toEqual(before);
    await family.start();
    expect(await family.call("claudecode_poll", { name: "waiting" })).toMatchObject({ status: "running" });
  });
});
