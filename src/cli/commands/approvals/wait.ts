import { type Command, InvalidArgumentError, Option } from "commander";
import type { Api } from "../../../client/api.ts";
import { SESSION_WORDS } from "../../../client/words/words.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { isUnreachable, Refused } from "../../../contract/refusals/refused.ts";
import { waitForNext } from "../../../contract/routes/wait.ts";
import { duration } from "../../../contract/text/duration.ts";
import type { Finished, Waited } from "../../../contract/tools/wait-answers.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText, printable, printableText } from "../../terminal/printable.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import { sessionKey } from "../sessions/session-key.ts";
import { showPending } from "./pending.ts";
import { timeSpan } from "./time-span.ts";

/** The longest wait of a single request. */
const ASKED_SECS = 110;
const ANSWER_WITHIN_MS = 30_000;
/** The pause before another request to a server that is stopping or away. */
const PAUSE_MS = 1_000;
const DEFAULT_TIMEOUT = "1h";
const BY_HAND =
  "Nothing runs. A claude that is started by hand may still ask, for 10 minutes after it was configured or last asked.\n";
const HELP = `
Prints what it is, and ends with exit code 0; ends with 6 when the time is up, or at once when nothing runs that
could need approval or end. Goes on where it was last told: an end between two calls is not lost.`;

type Options = Flags & {
  timeout: number;
  session?: string;
  since?: number;
  consumer: string;
  json?: true;
};

export function waitCommand(terminal: Terminal): Command {
  return clientCommand("wait", "wait until a request needs approval or a turn has ended")
    .addOption(
      new Option("--timeout <TIME>", "how long at the most: 90s, 30m, 2h")
        .argParser(span)
        .default(span(DEFAULT_TIMEOUT), DEFAULT_TIMEOUT),
    )
    .option("--session <ID>", "only what concerns this session (its id or its name)")
    .option("--since <CURSOR>", "tell again what came after this cursor of an earlier call", cursor)
    .option("--consumer <NAME>", "whose place to go on from, where several wait", "cli")
    .option("--json", "print JSON, with the whole inputs")
    .addHelpText("after", HELP)
    .action(async ({ timeout, session, since, consumer, json, ...flags }: Options) => {
      const api = await openApi(readConfig(flags));
      const onByHand = () => terminal.err(BY_HAND);
      const session_id = await sessionKey(api, session);
      const waited = await wait(api, { session_id, since, consumer }, { timeoutSecs: timeout, onByHand });
      if (json) terminal.out(jsonText(waited, terminal));
      else if (waited.type === "ok") await show(waited, api, terminal);
      if (waited.type === "timeout")
        throw new CommandFailed(`Nothing to do came up within ${duration(timeout)}.`, ExitCode.nothing);
      if (waited.type === "idle")
        throw new CommandFailed(
          "Nothing runs, is pending, or could ask: there is nothing to wait for.",
          ExitCode.nothing,
        );
    });
}

/** Waits with repeated requests, also through an outage of the server. */
async function wait(
  api: Api,
  body: { session_id: string | undefined; since: number | undefined; consumer: string },
  { timeoutSecs, onByHand }: { timeoutSecs: number; onByHand: () => void },
): Promise<Waited> {
  const end = performance.now() + timeoutSecs * 1000;
  let isSaid = false;
  let wasReached = false;
  for (;;) {
    const asked = performance.now();
    // The first request only checks that there is a server. Later outages are waited out.
    const timeout_secs = wasReached ? Math.min(ASKED_SECS, Math.max(0, (end - asked) / 1000)) : 0;
    const signal = AbortSignal.timeout(timeout_secs * 1000 + ANSWER_WITHIN_MS);
    const waited = await api.call(waitForNext, { body: { ...body, timeout_secs } }, { signal }).catch((cause) => {
      if (wasReached && cause instanceof Refused && isUnreachable(cause) && performance.now() < end) return undefined;
      throw cause;
    });
    if (waited && (waited.type !== "timeout" || performance.now() >= end)) return waited;
    if (!isSaid && waited?.running.length === 0) {
      isSaid = true;
      onByHand();
    }
    wasReached = true;
    // A server that answers early is about to stop.
    const isEarly = performance.now() - asked < timeout_secs * 1000;
    if (isEarly) await Bun.sleep(Math.min(PAUSE_MS, Math.max(0, end - performance.now())));
  }
}

async function show(
  { approvals, finished, has_more }: Extract<Waited, { type: "ok" }>,
  api: Api,
  terminal: Terminal,
): Promise<void> {
  if (approvals.length > 0) await showPending(approvals, api, terminal);
  for (const turn of finished) terminal.out(endOf(turn));
  if (has_more) terminal.err("There is more: call it again.\n");
}

/** How a turn ended, followed by the child's last message. */
function endOf({ name, status, text, error, asks, cost_usd }: Finished): string {
  const { allowed, denied, timed_out, unasked } = asks;
  const counts = Object.entries({ allowed, denied, "timed out": timed_out, unasked }).filter(([, count]) => count > 0);
  const facts = [...counts.map(([outcome, count]) => `${count} ${outcome}`), ...(cost_usd ? [`$${cost_usd}`] : [])];
  const words = [error, text].filter((said) => said).map((said) => `${printableText(said ?? "")}\n`);
  return `${printable(name)}: ${SESSION_WORDS[status]}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}\n${words.join("")}`;
}

function span(value: string): number {
  const seconds = timeSpan(value);
  if (seconds === undefined) throw new InvalidArgumentError("It must be like 90s, 30m or 1h.");
  return seconds;
}

function cursor(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a cursor that an earlier call has printed with --json.");
}
