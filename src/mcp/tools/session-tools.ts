import { headOf, toCreated } from "../../app.ts";
import { ConfigureInput, plexusServer } from "../../contract/approvals/approval.ts";
import { ASKED_AT, FIRST_HEAD, HEAD, SESSION_ID } from "../../contract/samples.ts";
import { leftRunning } from "../../contract/sessions/left-running.ts";
import { UpdateInput } from "../../contract/sessions/run-input.ts";
import { CreateInput, ForkInput, ListInput, SessionRef } from "../../contract/sessions/session.ts";
import type { SessionDetail, SessionSummary } from "../../contract/sessions/session-view.ts";
import { cutObject } from "../../contract/text/cut-object.ts";
import { fitting, listedChars } from "../../contract/text/fit.ts";
import { ConfigureAnswer } from "../../contract/tools/approval-answers.ts";
import {
  CreateAnswer,
  DeleteAnswer,
  ForkAnswer,
  ListAnswer,
  SessionAnswer,
  UpdateAnswer,
} from "../../contract/tools/session-answers.ts";
import { tool } from "./declaration/tool.ts";
import { sessionOf } from "./session-reference.ts";

const MAX_SESSIONS = 100;
const MAX_CONFIG_CHARS = 38_000;
const MAX_LIST_CHARS = 38_000;
/** Smaller fractions of a dollar only cost tokens. */
const COST_DIGITS = 6;
const GIVE_WORK = "Give it work with claudecode_chat.";
const NEXT_TURN =
  "Its turn goes on with the settings that it began with: these count from the next one on, rules and loopback_timeout_secs at once.";
const START_CLAUDE =
  "Write mcp_config to a file with mode 0600, then start: claude -p --mcp-config FILE, args, and the prompt. " +
  "Then call loopback_wait.";

const CONFIG: SessionDetail = {
  id: SESSION_ID,
  name: "worker",
  kind: "managed",
  status: "complete",
  head: HEAD,
  claude_session_id: "1e18cc5e-07b7-439c-85f1-43550ae771bb",
  total_cost_usd: 0.00042,
  created_at: ASKED_AT - 1,
  working_dir: "/srv/project",
  model: null,
  system_prompt: null,
  loopback_enabled: true,
  loopback_timeout_secs: 300,
  supervision: "default",
  allowed_tools: [],
  disallowed_tools: [],
  add_dirs: [],
  mcp_servers: {},
  max_turns: null,
  max_budget_usd: null,
  carrier: "http",
  metadata: {},
};

/** The tools that make, list and change sessions. */
export const SESSION_TOOLS = [
  tool({
    name: "loopback_configure",
    title: "Supervise a claude started by hand",
    description:
      "Makes a session for a claude that somebody starts by hand, whose requests come to you: mcp_config goes to a file that " +
      "only its user can read (it holds a token), args to the command line.",
    input: ConfigureInput,
    answer: ConfigureAnswer,
    examples: [
      {
        input: { name: "by hand" },
        answer: {
          type: "ok",
          session_id: SESSION_ID,
          mcp_config: { mcpServers: { plexus: plexusServer("http://127.0.0.1:4445", "plx_…") } },
          args: [
            "--strict-mcp-config",
            "--permission-mode",
            "default",
            "--permission-prompt-tool",
            "mcp__plexus__loopback_permit",
            "--setting-sources=",
            "--disable-slash-commands",
            "--settings",
            '{"disableAllHooks":true,"permissions":{"ask":["*"],…}}',
          ],
          next: START_CLAUDE,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: false },
  }).runs(async ({ app, principal }, asked) => {
    const { session, args } = await app.sessionCommands.configure(principal, asked);
    const token = await app.tokens.createForChild(session.id, principal);
    const plexus = plexusServer(await app.childUrl(), token);
    return { type: "ok", session_id: session.id, mcp_config: { mcpServers: { plexus } }, args, next: START_CLAUDE };
  }),
  tool({
    name: "claudecode_create",
    title: "Create a session",
    description:
      "Makes a session: a named Claude Code child that you give work with claudecode_chat. claudecode_run does both.",
    input: CreateInput,
    answer: CreateAnswer,
    examples: [
      {
        input: { name: "worker", working_dir: "/srv/project" },
        answer: {
          type: "created",
          id: SESSION_ID,
          name: "worker",
          working_dir: "/srv/project",
          head: FIRST_HEAD,
          next: GIVE_WORK,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: false },
  }).runs(async ({ app, principal }, asked) => {
    const session = await app.sessionCommands.create(principal, asked);
    return { ...toCreated(session), ...app.sessionCommands.warnings(session, asked), next: GIVE_WORK };
  }),
  tool({
    name: "claudecode_list",
    title: "List your sessions",
    description:
      "Lists your sessions, newest first (has_more: go on with after); no working_dir: that of the one before.",
    input: ListInput,
    answer: ListAnswer,
    examples: [
      {
        input: {},
        answer: {
          type: "ok",
          sessions: [
            {
              id: SESSION_ID,
              name: "worker",
              status: "complete",
              pending: 0,
              cost_usd: 0.00042,
              last_activity_at: ASKED_AT + 1,
              working_dir: "/srv/project",
            },
          ],
          has_more: false,
        },
      },
    ],
    annotations: { readOnlyHint: true },
    untrusted: ["sessions"],
  }).runs(async ({ app, principal }, { after }) => {
    const { sessions, cursor } = await app.sessionViews.list(principal, { limit: MAX_SESSIONS, cursor: after });
    const shown = sessions.map((session, at) => listedSession(session, sessions[at - 1]));
    const fit = fitting(shown, MAX_LIST_CHARS, listedChars);
    return { type: "ok", sessions: fit, has_more: cursor !== null || fit.length < shown.length };
  }),
  tool({
    name: "claudecode_get",
    title: "Look at a session",
    description: "Returns a session's settings, status and head.",
    input: SessionRef,
    answer: SessionAnswer,
    examples: [
      {
        input: { name: "worker" },
        answer: {
          type: "ok",
          config: CONFIG,
        },
      },
    ],
    annotations: { readOnlyHint: true },
    untrusted: ["config"],
  }).runs(async (call, reference) => {
    const detail = await call.app.sessionViews.detail(await sessionOf(call, reference));
    return { type: "ok", config: cutObject(detail, MAX_CONFIG_CHARS) };
  }),
  tool({
    name: "claudecode_update",
    title: "Change settings",
    description:
      "Changes settings of claudecode_create for the next turn on, rules and loopback_timeout_secs at once; what is left out " +
      "stays. Lists are replaced.",
    input: UpdateInput,
    answer: UpdateAnswer,
    examples: [
      { input: { name: "worker", model: "opus" }, answer: { type: "ok", config: { ...CONFIG, model: "opus" } } },
    ],
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
    // The settings may come from another caller than the one who reads them here.
    untrusted: ["config", "warnings"],
  }).runs(async (call, { name, session_id, ...asked }) => {
    const { app, principal } = call;
    const session = await sessionOf(call, { name, session_id });
    const updated = await app.sessionCommands.update(principal, session, asked);
    const warned = app.sessionCommands.warnings(updated, asked);
    const room = MAX_CONFIG_CHARS - JSON.stringify(warned).length;
    const config = cutObject(await app.sessionViews.detail(updated), room);
    return { type: "ok", config, ...warned, ...(updated.nextConfig !== null && { note: NEXT_TURN }) };
  }),
  tool({
    name: "claudecode_fork",
    title: "Fork a session",
    description:
      "Makes a session that goes on with the conversation of another, which stays untouched; its cost begins at 0.",
    input: ForkInput,
    answer: ForkAnswer,
    examples: [
      {
        input: { name: "worker", new_name: "worker-2" },
        answer: {
          type: "forked",
          id: "01a1e2f0-1a92-77d8-9e93-8b116477fd56",
          head: HEAD,
          next: GIVE_WORK,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: false },
  }).runs(async ({ app, principal }, { name, new_name }) => {
    const session = await app.sessions.require(principal, name);
    const fork = await app.sessionCommands.fork(principal, session, new_name);
    return { type: "forked", id: fork.id, head: headOf(fork), next: GIVE_WORK };
  }),
  tool({
    name: "claudecode_delete",
    title: "Delete a session",
    description:
      "Cancels what runs in a session and forgets it; decisions stay on record. left_running could not be ended.",
    input: SessionRef,
    answer: DeleteAnswer,
    examples: [{ input: { name: "worker" }, answer: { type: "deleted", id: SESSION_ID } }],
    annotations: { readOnlyHint: false, destructiveHint: true },
    untrusted: ["left_running"],
  }).runs(async (call, reference) => {
    const session = await sessionOf(call, reference);
    const left = await call.app.sessionCommands.remove(call.principal, session);
    return { type: "deleted", id: session.id, ...leftRunning(left) };
  }),
];

/** The fields that an agent needs. The directory is left out if it equals that of the previous session. */
function listedSession({ working_dir, ...session }: SessionSummary, before: SessionSummary | undefined) {
  const { id, name, status, pending, cost_usd, last_activity_at } = session;
  const place = working_dir === before?.working_dir ? {} : { working_dir };
  return { id, name, status, pending, cost_usd: Number(cost_usd.toFixed(COST_DIGITS)), last_activity_at, ...place };
}
