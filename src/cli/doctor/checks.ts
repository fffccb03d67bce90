import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CallResult, Reply, ScriptedModel, ToolCall } from "../../claude/scripted/model.ts";
import type { Api } from "../../client/api.ts";
import type { ToldApproval } from "../../contract/approvals/approval.ts";
import type { Decision } from "../../contract/approvals/decision.ts";
import { decideApproval } from "../../contract/routes/approvals.ts";
import { WaitAnswer } from "../../contract/tools/wait-answers.ts";
import { callTool } from "../../mcp/client.ts";
import type { Child } from "./child.ts";
import { Failing, type Step } from "./finding.ts";

/** Only the fields used here, so that a newer server may send more. */
const Waited = WaitAnswer.options[0].pick({ type: true, approvals: true }).strip();
const ASKED_WITHIN_SECS = 30;
const ENDED_WITHIN_MS = 15_000;
const REASON = "plexus doctor says no";
const REPORT = "This is a bug: report it, with `plexus version` and `claude --version`.";

const ALLOWED = "allowed.txt";
const DENIED = "denied.txt";
const ORIGINAL = "original.txt";
const EDITED = "edited.txt";

/** The calls that the child makes, one for each kind of decision. */
const CALLS: ToolCall[] = [ALLOWED, DENIED, ORIGINAL].map((file) => ({ name: "Bash", input: inputFor(file) }));

/** The scripted model's answer after these results: the next call, or the end. */
export function nextCall(results: CallResult[]): Reply {
  const call = CALLS[results.length];
  return call ? { call } : { say: "Done." };
}

type CheckNeed = {
  api: Api;
  sessionId: string;
  child: Child;
  model: ScriptedModel;
  claude: string;
  signal: AbortSignal;
};

/** The checks of the child's calls, in order. Each returns what it has proven. */
export function createChecks(need: CheckNeed): [Step, () => Promise<string>][] {
  const { child, model } = need;
  const made = (file: string) => existsSync(join(child.work, file));
  const expect = (isSo: boolean, otherwise: string) => {
    if (!isSo) throw new Failing(otherwise, REPORT);
  };
  let waiting = "";

  return [
    [
      "ask",
      async () => {
        const approval = await nextRequest(need);
        waiting = approval.id;
        expect(!made(ALLOWED), "The child's call ran before anybody decided.");
        return `the child asks to use ${approval.tool_name}, and waits`;
      },
    ],
    [
      "allow",
      async () => {
        await decide(need.api, waiting, { approve: true });
        waiting = (await nextRequest(need)).id;
        expect(made(ALLOWED), "What was allowed did not run.");
        return "what was allowed ran";
      },
    ],
    [
      "deny",
      async () => {
        await decide(need.api, waiting, { approve: false, message: REASON });
        waiting = (await nextRequest(need)).id;
        expect(!made(DENIED), "What was denied ran.");
        expect(model.results()[1]?.text.includes(REASON) === true, "The reason for a denial did not reach the model.");
        return "what was denied did not run, and the model read why";
      },
    ],
    [
      "edit",
      async () => {
        await decide(need.api, waiting, { approve: true, updated_input: inputFor(EDITED) });
        await ended(need);
        expect(made(EDITED) && !made(ORIGINAL), "The edited input is not what ran.");
        const complaint = child.complaint();
        if (complaint !== undefined) throw new Failing(`The child did not end well: ${complaint}`, advice(need));
        return "the edited input ran instead, and the child ended well";
      },
    ],
  ];
}

/** Waits for the child's request, the only pending one. */
async function nextRequest(need: CheckNeed): Promise<ToldApproval> {
  const { api, sessionId, child } = need;
  const done = new AbortController();
  const fetch: Api["fetch"] = (path, init) => api.fetch(path, { ...init, signal: done.signal });
  const asked = callTool({ fetch }, "loopback_wait", { session_id: sessionId, timeout_secs: ASKED_WITHIN_SECS });
  try {
    const first = await Promise.race([asked, child.exited.then(() => "ended" as const)]);
    if (first === "ended") {
      throw new Failing(`The child ended before it asked: ${child.complaint() || "it said nothing"}`, advice(need));
    }
    const [approval] = Waited.safeParse(first?.value).data?.approvals ?? [];
    if (approval) return approval;
    throw new Failing(`The child did not ask within ${ASKED_WITHIN_SECS} s.`, advice(need));
  } finally {
    asked.catch(() => undefined);
    done.abort();
  }
}

async function decide(api: Api, id: string, decision: Decision): Promise<void> {
  const answer = await api.call(decideApproval, { params: { id }, body: decision });
  if (answer.type === "ok") return;
  throw new Failing(`${answer.resolved_by} decided before doctor did.`, "Run it again while nobody else decides.");
}

async function ended({ child, signal }: CheckNeed): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ENDED_WITHIN_MS);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([child.exited, promise]);
  clearTimeout(timer);
}

function advice({ claude }: CheckNeed): string {
  return `See whether \`${claude} -p hello\` works, and whether an administrator's settings forbid MCP servers.`;
}

function inputFor(file: string) {
  return { command: `echo done > ${file}`, description: "a call of plexus doctor" };
}
