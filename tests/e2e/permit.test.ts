import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../src/contract/approvals/approval.ts";
import { type ClaudeRun, withClaude } from "../support/claude/claude.ts";
import type { TestClient } from "../support/mcp/mcp-client.ts";
import {
  readResults,
  type ScriptedModel,
  script,
  startScriptedModel,
  type Turn,
} from "../support/model/scripted-model.ts";
import { type Plexus, startPlexus } from "../support/server/plexus.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

let plexus: Plexus;
let model: ScriptedModel;
let parent: TestClient;
beforeAll(async () => {
  plexus = await startPlexus();
  model = startScriptedModel();
  parent = await plexus.connect();
});
afterAll(async () => {
  await plexus[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

describe("a permit of the real CLI", () => {
  test("blocks until it is allowed, and then runs", () =>
    supervised([{ use: [bash("touch made-by-child")] }], async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      expect(approval).toMatchObject({ tool_name: "Bash", input: { command: "touch made-by-child" } });
      expect(approval?.tool_use_id).toStartWith("toolu_");
      expect(existsSync(join(run.cwd, "made-by-child"))).toBe(false);
      expect(await respond(approval, { approve: true })).toMatchObject({ type: "ok", status: "allowed" });
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(join(run.cwd, "made-by-child"))).toBe(true);
    }));

  test("gives the reason of a denial to the child as the tool's result", () =>
    supervised([{ use: [bash("touch never")] }], async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      await respond(approval, { approve: false, message: "use the build folder instead" });
      const outcome = await run.result();
      expect(readResults(outcome.text)).toMatchObject([{ is_error: true, content: "use the build folder instead" }]);
      expect(outcome.permissionDenials).toHaveLength(1);
      expect(existsSync(join(run.cwd, "never"))).toBe(false);
    }));

  test("ends the child's turn when a denial interrupts", () =>
    supervised([{ use: [bash("touch never")] }], async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      await respond(approval, { approve: false, message: "stop", interrupt: true });
      const outcome = await run.result();
      expect(outcome.exitCode).toBe(1);
      expect(existsSync(join(run.cwd, "never"))).toBe(false);
    }));

  test("runs the edited input, and not the original", () =>
    supervised([{ use: [bash("touch original")] }], async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      await respond(approval, { approve: true, updated_input: { ...approval?.input, command: "touch edited" } });
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(join(run.cwd, "edited"))).toBe(true);
      expect(existsSync(join(run.cwd, "original"))).toBe(false);
    }));

  test("answers concurrent asks out of order, each with its own decision", () => {
    const reads = ["a", "b", "c"].map((name) => ({
      name: "Read",
      input: { file_path: `/etc/${name}-of-plexus-test` },
    }));
    const turns = [{ use: reads }];
    const args = ["--settings", JSON.stringify({ permissions: { ask: ["Read"] } })];
    return supervised(
      turns,
      async ({ run, pending, respond }) => {
        const approvals = await pending(3);
        for (const approval of approvals.toReversed()) {
          await respond(approval, { approve: false, message: `no to ${approval.input["file_path"]}` });
        }
        const results = readResults((await run.result()).text);
        const told = results.map(({ content }) => content).sort();
        expect(told).toEqual(["a", "b", "c"].map((name) => `no to /etc/${name}-of-plexus-test`));
      },
      { args },
    );
  });

  test("is answered with the chosen option when the child asks its user", () => {
    const questions = [
      {
        question: "Which?",
        header: "Choice",
        multiSelect: false,
        options: [
          { label: "A", description: "the first" },
          { label: "B", description: "the second" },
        ],
      },
    ];
    return supervised(
      [{ use: [{ name: "AskUserQuestion", input: { questions } }] }],
      async ({ run, pending, respond }) => {
        const [approval] = await pending(1);
        expect(approval?.tool_name).toBe("AskUserQuestion");
        await respond(approval, { approve: true, updated_input: { ...approval?.input, answers: { "Which?": "B" } } });
        const results = readResults((await run.result()).text);
        expect(JSON.stringify(results)).toContain('\\"Which?\\"=\\"B\\"');
      },
    );
  });

  test("carries a Write of 200 kB, shown cut and run whole", () => {
    const content = `start ${"0123456789".repeat(20_000)} end`;
    const turns = [{ use: [{ name: "Write", input: { file_path: "big.txt", content } }] }];
    return supervised(turns, async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      expect(approval).toMatchObject({ tool_name: "Write", truncated: true });
      expect(approval?.input_size).toBeGreaterThan(200_000);
      await respond(approval, { approve: true });
      expect((await run.result()).exitCode).toBe(0);
      expect(readFileSync(join(run.cwd, "big.txt"), "utf8")).toBe(content);
    });
  });

  test("outlives the 60 seconds after which the CLI would give up on a silent answer", () =>
    supervised([{ use: [bash("touch patient")] }], async ({ run, pending, respond }) => {
      const [approval] = await pending(1);
      const age = () => Date.now() / 1000 - (approval?.created_at ?? 0);
      await until("the ask to be older than 60 seconds", () => age() > 62, 90_000);
      await respond(approval, { approve: true });
      expect((await run.result()).exitCode).toBe(0);
      expect(existsSync(join(run.cwd, "patient"))).toBe(true);
    }));

  test("becomes abandoned when its child is killed", async () => {
    await using own = await startPlexus({ clocks: { abandonAfterMs: 50 } });
    await supervised(
      [{ use: [bash("touch never")] }],
      async ({ run, pending, sessionId }) => {
        const [approval] = await pending(1);
        run.kill("SIGKILL");
        const status = async () => (await own.app.approvals.get({ kind: "operator" }, approval?.id ?? "")).status;
        await until("the ask to be abandoned", async () => (await status()) === "abandoned");
        expect((await own.app.approvals.pending({ kind: "operator" }, sessionId, 10)).approvals).toEqual([]);
      },
      { server: own },
    );
  });
});

test("a permit that nobody decides is denied, and says that the approval timed out", async () => {
  await using own = await startPlexus({ flags: { approvalTimeoutSecs: "1" } });
  await supervised(
    [{ use: [bash("touch never")] }],
    async ({ run }) => {
      const outcome = await run.result();
      expect(JSON.stringify(readResults(outcome.text))).toContain("Approval timed out");
      expect(existsSync(join(run.cwd, "never"))).toBe(false);
    },
    { server: own },
  );
});

test("without tokens, the CLI needs only the plain url", async () => {
  await using open = await startPlexus({ flags: { auth: "none" } });
  const mcpConfig = { mcpServers: { plexus: { type: "http", url: `${open.url}/mcp?session_id=plain` } } };
  const prompt = script([{ use: [bash("touch plain")] }]);
  await withClaude({ model, prompt, mcpConfig }, async (run) => {
    const operator = await open.connect(null);
    const approval = await until("the ask", async () => {
      const { value } = await operator.call("loopback_pending");
      return Approval.array().parse(value["approvals"])[0];
    });
    expect(approval.session_name).toBe("plain");
    await operator.call("loopback_respond", { approval_id: approval.id, approve: true });
    expect((await run.result()).exitCode).toBe(0);
    expect(existsSync(join(run.cwd, "plain"))).toBe(true);
  });
});

type Supervised = {
  run: ClaudeRun;
  sessionId: string;
  /** Waits until the child has this many pending requests. */
  pending(count: number): Promise<Approval[]>;
  respond(approval: Approval | undefined, decision: object): Promise<object>;
};

/** The real CLI as a child of a new session, with the calls of its parent. */
async function supervised(
  turns: Turn[],
  body: (child: Supervised) => Promise<void>,
  { server = plexus, args = [] }: { server?: Plexus; args?: string[] } = {},
): Promise<void> {
  const { sessionId, mcpConfig } = await server.child();
  const decider = server === plexus ? parent : await server.connect();
  const pending = (count: number) =>
    until(`${count} pending`, async () => {
      const { value } = await decider.call("loopback_pending", { session_id: sessionId });
      const approvals = Approval.array().parse(value["approvals"]);
      return approvals.length >= count ? approvals : undefined;
    });
  const respond = async (approval: Approval | undefined, decision: object) =>
    (await decider.call("loopback_respond", { approval_id: approval?.id, ...decision })).value;
  await withClaude({ model, prompt: script(turns), mcpConfig, args }, (run) =>
    body({ run, sessionId, pending, respond }),
  );
}

function bash(command: string) {
  return { name: "Bash", input: { command, description: "test" } };
}
