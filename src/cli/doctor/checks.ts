import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Approval, type Decision, RespondResult } from "../../contract/approvals/approval.ts";
import { callTool } from "../../mcp/client.ts";
import type { Server } from "../server/server-client.ts";
import type { Child } from "./child.ts";
import { Failing, type Step } from "./finding.ts";
import type { ScriptedModel, ToolCall } from "./model.ts";

const Waited = z.object({ type: z.literal("ok"), approvals: z.array(Approval) });
const ASKED_WITHIN_SECS = 30;
const ENDED_WITHIN_MS = 15_000;
const REASON = "plexus doctor says no";
const REPORT = "This is a bug: report it, with `plexus version` and `claude --version`.";

const ALLOWED = "allowed.txt";
const DENIED = "denied.txt";
const ORIGINAL = "original.txt";
const EDITED = "edited.txt";

/** What the child tries to do: one call for each decision. */
export const CALLS: ToolCall[] = [ALLOWED, DENIED, ORIGINAL].map((file) => ({ name: "Bash", input: inputFor(file) }));

type Stage = {
  server: Server;
  sessionId: string;
  child: Child;
  model: ScriptedModel;
  claude: string;
  signal: AbortSignal;
};

/** What is to be seen of the child's calls, in order; each says what it has proven. */
export function createScenes(stage: Stage): [Step, () => Promise<string>][] {
  const { child, model } = stage;
  const made = (file: string) => existsSync(join(child.work, file));
  const expect = (isSo: boolean, otherwise: string) => {
    if (!isSo) throw new Failing(otherwise, REPORT);
  };
  let waiting = "";

  return [
    [
      "ask",
      async () => {
        const approval = await nextAsk(stage);
        waiting = approval.id;
        expect(!made(ALLOWED), "The child's call ran before anybody decided.");
        return `the child asks to use ${approval.tool_name}, and waits`;
      },
    ],
    [
      "allow",
      async () => {
        await decide(stage.server, waiting, { approve: true });
        waiting = (await nextAsk(stage)).id;
        expect(made(ALLOWED), "What was allowed did not run.");
        return "what was allowed ran";
      },
    ],
    [
      "deny",
      async () => {
        await decide(stage.server, waiting, { approve: false, message: REASON });
        waiting = (await nextAsk(stage)).id;
        expect(!made(DENIED), "What was denied ran.");
        expect(model.results()[1]?.includes(REASON) === true, "The reason for a denial did not reach the model.");
        return "what was denied did not run, and the model read why";
      },
    ],
    [
      "edit",
      async () => {
        await decide(stage.server, waiting, { approve: true, updated_input: inputFor(EDITED) });
        await ended(stage);
        expect(made(EDITED) && !made(ORIGINAL), "The edited input is not what ran.");
        const complaint = child.complaint();
        if (complaint !== undefined) throw new Failing(`The child did not end well: ${complaint}`, advice(stage));
        return "the edited input ran instead, and the child ended well";
      },
    ],
  ];
}

/** The only ask that waits, as soon as the child has made it. */
async function nextAsk(stage: Stage): Promise<Approval> {
  const { server, sessionId, child } = stage;
  const done = new AbortController();
  const fetch: Server["fetch"] = (path, init) => server.fetch(path, { ...init, signal: done.signal });
  const asked = callTool({ fetch }, "loopback_wait", { session_id: sessionId, timeout_secs: ASKED_WITHIN_SECS });
  try {
    const first = await Promise.race([asked, child.exited.then(() => "ended" as const)]);
    if (first === "ended") {
      throw new Failing(`The child ended before it asked: ${child.complaint() || "it said nothing"}`, advice(stage));
    }
    const [approval] = Waited.safeParse(first?.value).data?.approvals ?? [];
    if (approval) return approval;
    throw new Failing(`The child did not ask within ${ASKED_WITHIN_SECS} s.`, advice(stage));
  } finally {
    asked.catch(() => undefined);
    done.abort();
  }
}

async function decide(server: Server, id: string, decision: Decision): Promise<void> {
  const answer = await server.request(RespondResult, "POST", `/api/v1/approvals/${id}/respond`, decision);
  if (answer.type === "ok") return;
  throw new Failing(`${answer.resolved_by} decided before doctor did.`, "Run it again while nobody else decides.");
}

async function ended({ child, signal }: Stage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ENDED_WITHIN_MS);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([child.exited, promise]);
  clearTimeout(timer);
}

function advice({ claude }: Stage): string {
  return `See whether \`${claude} -p hello\` works, and whether an administrator's settings forbid MCP servers.`;
}

function inputFor(file: string) {
  return { command: `echo done > ${file}`, description: "a call of plexus doctor" };
}
