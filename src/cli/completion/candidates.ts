import { z } from "zod";
import type { Config } from "../../config.ts";
import { Approval } from "../../contract/approvals/approval.ts";
import { findServer } from "../server/server-client.ts";
import { printable } from "../terminal/printable.ts";
import type { Candidates } from "./grammar.ts";

/** Whoever has pressed a key does not wait for longer. */
const WITHIN_MS = 1_500;
const MOST = 200;
const LISTED_CHARS = 2_000;

const Sessions = z.object({ sessions: z.array(z.object({ name: z.string(), status: z.string() })) });
const Approvals = z.object({ approvals: z.array(Approval) });
const Tokens = z.object({ tokens: z.array(z.object({ name: z.string() })) });

type Candidate = [value: string, help: string];

const LISTS: Record<Candidates, { path: string; read: (answer: unknown) => Candidate[] }> = {
  sessions: {
    path: `/api/v1/sessions?limit=${MOST}`,
    read: (answer) => Sessions.parse(answer).sessions.map(({ name, status }) => [name, status]),
  },
  approvals: {
    path: `/api/v1/approvals?status=pending&limit=${MOST}&max_chars=${LISTED_CHARS}`,
    read: (answer) =>
      Approvals.parse(answer).approvals.map(({ id, session_name, tool_name, input }) => [
        id,
        `${session_name}: ${tool_name} ${JSON.stringify(input).slice(0, 80)}`,
      ]),
  },
  tokens: {
    path: "/api/v1/tokens",
    read: (answer) => Tokens.parse(answer).tokens.map(({ name }) => [name, "a named token"]),
  },
};

/** What could stand there, one a line with a word on it; nothing where the server can't be asked, whatever the reason. */
export async function candidatesText(of: Candidates, config: () => Config): Promise<string> {
  try {
    const { path, read } = LISTS[of];
    const response = await findServer(config()).fetch(path, { signal: AbortSignal.timeout(WITHIN_MS) });
    return read(await response.json())
      .map((candidate) => `${candidate.map(printable).join("\t")}\n`)
      .join("");
  } catch {
    return "";
  }
}
