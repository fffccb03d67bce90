import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApprovalList, listApprovals } from "../../../src/contract/routes/approvals.ts";
import { DemoStarted, startDemo } from "../../../src/contract/routes/demo.ts";
import { listSessions, SessionList } from "../../../src/contract/routes/sessions.ts";
import { expectRefusal, namedToken } from "../../http/support/callers.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const OPERATOR = { kind: "operator" } as const;

describe("a demo", () => {
  test("asks once with a real child, does what is decided, and is removed with all but the decision", async () => {
    await using root = await temporaryDirectory();
    await using plexus = await startPlexus({
      flags: { claude: CLAUDE, workspace: root.path },
      clocks: { demoKeptMs: 500 },
    });
    const [demo, again] = await Promise.all([started(plexus), started(plexus)]);
    expect(again).toEqual(demo);
    expect(demo.name).toBe("demo");
    const asked = await until("the request", async () => (await approvals(plexus, "status=pending&context=true"))[0]);
    const file = String(asked.input["file_path"]);
    expect(asked).toMatchObject({ tool_name: "Write", said: expect.stringContaining("You decide whether I may") });
    expect(file).toStartWith(root.path);
    expect(await Bun.file(file).exists()).toBe(false);
    await plexus.app.approvals.decide(OPERATOR, asked.id, { approve: true });
    await until("the file", () => Bun.file(file).exists());
    expect(await readFile(file, "utf8")).toBe("Hello from your first child.\n");
    const { turn_id } = demo;
    const turn = await until("the end", async () => {
      const answer = await (await plexus.fetch(`/api/v1/turns/${turn_id}`)).json();
      return Object(answer).turn?.status === "complete" && Object(answer).turn;
    });
    expect(turn.usage.cost_usd).toBe(0);
    await until("the session to be removed", async () => (await sessions(plexus)).length === 0);
    await until("its directory to be removed", () => readdirSync(root.path).length === 0);
    expect(await approvals(plexus, "status=resolved")).toMatchObject([{ id: asked.id, status: "allowed" }]);
  });

  test("that is denied writes nothing, and goes when its owner starts another or the server stops", async () => {
    await using root = await temporaryDirectory();
    {
      await using plexus = await startPlexus({ flags: { claude: CLAUDE, workspace: root.path } });
      const ci = await namedToken(plexus, "ci");
      const demo = await started(plexus, ci.token);
      const [asked] = await until("the request", async () => {
        const all = await approvals(plexus, "status=pending");
        return all.length > 0 && all;
      });
      expect(await approvals(plexus, "status=pending", ci.token)).toHaveLength(1);
      await plexus.app.approvals.decide(ci.principal, asked?.id ?? "", { approve: false });
      const events = async () => (await plexus.fetch(`/api/v1/turns/${demo.turn_id}/events`)).text();
      await until("what it says of it", async () => (await events()).includes("nothing was written"));
      await until("its end", async () => (await sessions(plexus))[0]?.status === "complete");
      expect(await Bun.file(join(String(asked?.input["file_path"]))).exists()).toBe(false);
      const next = await started(plexus, ci.token);
      expect(next.name).toBe("demo");
      expect(next.session_id).not.toBe(demo.session_id);
      expect((await started(plexus)).name).toBe("demo");
      expect(await sessions(plexus)).toHaveLength(2);
    }
    expect(readdirSync(root.path)).toEqual([]);
  });

  test("says what is missing where there is no Claude Code, and leaves nothing behind", async () => {
    await using root = await temporaryDirectory();
    await using plexus = await startPlexus({ flags: { claude: "/nowhere/claude", workspace: root.path } });
    const refused = await expectRefusal(await ask(plexus), 503, "claude_unavailable");
    expect(refused).toContain("install Claude Code");
    expect(await sessions(plexus)).toEqual([]);
    expect(readdirSync(root.path)).toEqual([]);
  });
});

function ask(plexus: Plexus, token?: string): Promise<Response> {
  return plexus.fetch(startDemo.path, { method: "POST", ...(token !== undefined && { token }) });
}

async function started(plexus: Plexus, token?: string): Promise<DemoStarted> {
  return DemoStarted.parse(await (await ask(plexus, token)).json());
}

async function approvals(plexus: Plexus, query: string, token?: string) {
  const answer = await plexus.fetch(`${listApprovals.path}?${query}`, token === undefined ? {} : { token });
  return ApprovalList.parse(await answer.json()).approvals;
}

async function sessions(plexus: Plexus) {
  return SessionList.parse(await (await plexus.fetch(listSessions.path)).json()).sessions;
}
