import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startMortalFamily } from "../../support/server/outage.ts";
import { bash, eventsOf, textOf } from "../../support/sessions/told-events.ts";
import { askedFor, expectTidy, expectWhole, report } from "../../support/sessions/whole-turn.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const OUTAGE_MS = 3_000;
const NO_OUTPUT = "(Bash completed with no output)";

describe("children that outlive a server killed with kill -9", () => {
  test("three that wait for a decision get it from the next server, in any order, and make further requests", async () => {
    await using family = await startMortalFamily();
    const names = ["one", "two", "three"];
    const ids = await Promise.all(names.map((name) => family.create(name)));
    for (const name of names) {
      await family.chat(name, [
        { use: [bash(`touch ${name}-a`, `toolu_${name}_a`)] },
        { use: [bash(`touch ${name}-b`, `toolu_${name}_b`)] },
      ]);
    }
    const asks = await Promise.all(ids.map((id) => family.heldAsk(id)));
    const { cursor } = await family.wait();
    await family.crash(OUTAGE_MS);

    for (const [index, name] of names.entries()) {
      expect(await family.call("claudecode_poll", { name })).toMatchObject({
        status: "awaiting_permission",
        pending_approvals: [{ id: asks[index]?.id }],
      });
    }
    for (const ask of asks.toReversed()) await family.allow(ask);
    const further = await Promise.all(
      ids.map((id, index) =>
        until("the further ask", async () => {
          const ask = await family.ask(id);
          return ask.id !== asks[index]?.id && ask;
        }),
      ),
    );
    for (const ask of further) await family.allow(ask);

    for (const [index, name] of names.entries()) {
      const turn = await family.ended(name);
      const calls = [`toolu_${name}_a`, `toolu_${name}_b`];
      const results = { [`toolu_${name}_a`]: NO_OUTPUT, [`toolu_${name}_b`]: NO_OUTPUT };
      expectWhole(turn, { text: report(results), calls });
      const approvals = [asks, further].map((filed) => filed[index]?.id ?? "");
      expect(eventsOf(turn.events, "approval_requested").map(({ approval_id }) => approval_id)).toEqual(approvals);
      expect(eventsOf(turn.events, "approval_resolved").map(({ approval_id }) => approval_id)).toEqual(approvals);
      expect(askedFor(family, ids[index] ?? "")).toEqual(calls);
      expect([`${name}-a`, `${name}-b`].map((file) => existsSync(join(family.place, file)))).toEqual([true, true]);
    }
    const { finished, cursor: after } = await family.wait(cursor);
    const told = ids.map((session_id, index) => ({
      session_id,
      name: names[index] ?? "",
      status: "complete" as const,
    }));
    expect(finished.toSorted((a, b) => a.session_id.localeCompare(b.session_id))).toMatchObject(told);
    expect((await family.wait(after)).finished).toEqual([]);
    await expectTidy(family);
  });

  test("one that streams through the outage loses and repeats no word", async () => {
    await using family = await startMortalFamily();
    await family.create("streaming");
    const words = Array.from({ length: 150 }, (_, at) => `word ${at} `);
    await family.chat("streaming", [{ say: words, delayMs: 50 }]);
    await family.told("streaming", (events) => textOf(events).includes("word 20 "));
    await family.crash(OUTAGE_MS);
    const adopted = await family.call("claudecode_poll", { name: "streaming" });
    expect(adopted.status).toBe("running");
    const turn = await family.ended("streaming");
    expectWhole(turn, { text: words.join(""), calls: [] });
    const { messages } = await family.call("claudecode_render_context", { name: "streaming" });
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: { text: words.join("") } });
    await expectTidy(family);
  });

  test("one whose tool runs through the outage reports the tool's output", async () => {
    await using family = await startMortalFamily();
    await family.create("working", { allowed_tools: ["Bash"] });
    const gate = join(family.place, "gate");
    await Bun.write(join(family.place, "work.sh"), `touch begun; until [ -e ${gate} ]; do sleep 0.1; done; echo done`);
    await family.chat("working", [{ use: [bash("sh work.sh", "toolu_long")] }, { say: "and on" }]);
    await until("the tool to run", () => existsSync(join(family.place, "begun")));
    await family.kill();
    await Bun.write(gate, "");
    await family.start();
    const turn = await family.ended("working");
    expectWhole(turn, { text: "and on", calls: ["toolu_long"] });
    expect(eventsOf(turn.events, "tool_result")).toMatchObject([{ output: "done", is_error: false }]);
    await expectTidy(family);
  });
});
