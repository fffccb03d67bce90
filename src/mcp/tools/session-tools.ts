import { headOf } from "../../app.ts";
import { ConfigureInput, plexusServer } from "../../contract/approvals/approval.ts";
import { cutObject } from "../../contract/cut.ts";
import { ASKED_AT, FIRST_HEAD, HEAD, SESSION_ID } from "../../contract/samples.ts";
import { leftRunning } from "../../contract/sessions/left-running.ts";
import { CreateInput, ForkInput, SessionRef } from "../../contract/sessions/session.ts";
import { ConfigureAnswer } from "../../contract/tools/approval-answers.ts";
import {
  CreateAnswer,
  DeleteAnswer,
  ForkAnswer,
  ListAnswer,
  SessionAnswer,
} from "../../contract/tools/session-answers.ts";
import { sessionOf } from "./session-reference.ts";
import { tool } from "./tool.ts";

const MAX_SESSIONS = 100;
const MAX_CONFIG_CHARS = 38_000;
const GIVE_WORK = "Give it work with claudecode_chat_async.";
const START_CLAUDE =
  "Write mcp_config to a file with mode 0600, then start: claude -p --mcp-config FILE, args, and the prompt. " +
  "Then call loopback_wait.";

/** What sessions there are, and what each of them is. */
export const SESSION_TOOLS = [
  tool({
    name: "loopback_configure",
    title: "Supervise a claude that is started by hand",
    description:
      "Makes a session for a Claude Code CLI that somebody starts by hand, and returns what that needs: mcp_config, to be written " +
      "to a file that only its user can read (it holds a token), and args for the command line. Its asks then come to you.",
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
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  }).runs(async ({ app, principal }, asked) => {
    const { session, args } = await app.sessionCommands.configure(principal, asked);
    const token = await app.tokens.createForChild(session.id);
    const plexus = plexusServer(await app.childUrl(), token);
    return { type: "ok", session_id: session.id, mcp_config: { mcpServers: { plexus } }, args, next: START_CLAUDE };
  }),
  tool({
    name: "claudecode_create",
    title: "Create a session",
    description:
      "Makes a session: a named Claude Code child that you give work turn by turn. Nothing runs yet: start a turn with " +
      "claudecode_chat_async or claudecode_chat. What the child asks permission for, you decide with loopback_respond.",
    input: CreateInput,
    answer: CreateAnswer,
    examples: [
      {
        input: { name: "worker", working_dir: "/srv/project" },
        answer: {
          type: "created",
          id: SESSION_ID,
          name: "worker",
          head: FIRST_HEAD,
          next: GIVE_WORK,
        },
      },
    ],
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  }).runs(async ({ app, principal }, asked) => {
    const session = await app.sessionCommands.create(principal, asked);
    return { type: "created", id: session.id, name: session.name, head: headOf(session), next: GIVE_WORK };
  }),
  tool({
    name: "claudecode_list",
    title: "List your sessions",
    description: "Lists your sessions, newest first, with their status.",
    input: SessionRef.omit({ name: true, session_id: true }),
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
              working_dir: "/srv/project",
              created_at: ASKED_AT - 1,
            },
          ],
          has_more: false,
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["sessions"],
  }).runs(async ({ app, principal }) => {
    const { sessions, cursor } = await app.sessionViews.list(principal, { limit: MAX_SESSIONS });
    const shown = sessions.map(({ id, name, status, working_dir, created_at }) => {
      return { id, name, status, working_dir, created_at };
    });
    return { type: "ok", sessions: shown, has_more: cursor !== null };
  }),
  tool({
    name: "claudecode_get",
    title: "Look at a session",
    description: "Returns what a session is: its configuration, its status, and where its conversation stands.",
    input: SessionRef,
    answer: SessionAnswer,
    examples: [
      {
        input: { name: "worker" },
        answer: {
          type: "ok",
          config: {
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
            carrier: "http",
            metadata: {},
          },
        },
      },
    ],
    annotations: { readOnlyHint: true, openWorldHint: false },
    untrusted: ["config"],
  }).runs(async (call, reference) => {
    const detail = await call.app.sessionViews.detail(await sessionOf(call, reference));
    return { type: "ok", config: cutObject(detail, MAX_CONFIG_CHARS) };
  }),
  tool({
    name: "claudecode_fork",
    title: "Fork a session",
    description:
      "Makes a new session that goes on with the whole conversation of another so far, and leaves that one untouched.",
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
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  }).runs(async ({ app, principal }, { name, new_name }) => {
    const session = await app.sessions.require(principal, name);
    const fork = await app.sessions.fork(principal, session, new_name);
    return { type: "forked", id: fork.id, head: headOf(fork), next: GIVE_WORK };
  }),
  tool({
    name: "claudecode_delete",
    title: "Delete a session",
    description:
      "Cancels what runs in a session and forgets it; what was decided in it stays on record. " +
      "left_running names processes of its child that could not be ended.",
    input: SessionRef,
    answer: DeleteAnswer,
    examples: [{ input: { name: "worker" }, answer: { type: "deleted", id: SESSION_ID } }],
    annotations: { readOnlyHint: false, destructiveHint: true },
    untrusted: ["left_running"],
  }).runs(async (call, reference) => {
    const session = await sessionOf(call, reference);
    const left = await call.app.sessionCommands.remove(session);
    return { type: "deleted", id: session.id, ...leftRunning(left) };
  }),
];
