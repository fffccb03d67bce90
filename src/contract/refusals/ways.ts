import { z } from "zod";

/**
 * The interface through which a caller uses Plexus: an agent calls tools, a program calls routes, a person uses a
 * terminal or the page.
 */
export const Door = z.enum(["mcp", "rest", "terminal", "page"]);
export type Door = z.infer<typeof Door>;

/** The terminal and the page identify themselves with this header; without it, the caller is a program. */
export const DOOR_HEADER = "Plexus-Door";

/**
 * The steps that a refusal may suggest, each with its name in every interface. On the page, a button is visible
 * instead.
 */
const NAMES = {
  pending: { mcp: "loopback_pending", rest: "GET /api/v1/approvals?status=pending", terminal: "`plexus pending`" },
  decide: {
    mcp: "loopback_respond",
    rest: "POST /api/v1/approvals/ID/respond",
    terminal: "`plexus allow`, `plexus deny`",
  },
  wait: { mcp: "loopback_wait", rest: "POST /api/v1/wait", terminal: "`plexus wait`" },
  skip: { mcp: "loopback_wait takes skip", rest: "POST /api/v1/wait takes skip", terminal: "s in `plexus watch`" },
  rules: { mcp: "loopback_rules", rest: "GET /api/v1/rules", terminal: "`plexus rules list`" },
  run: { mcp: "claudecode_run", rest: "POST /api/v1/run", terminal: "`plexus run`" },
  create: { mcp: "claudecode_create", rest: "POST /api/v1/sessions", terminal: "`plexus run`" },
  sessions: { mcp: "claudecode_list", rest: "GET /api/v1/sessions", terminal: "`plexus sessions`" },
  use: {
    mcp: "claudecode_get shows it, claudecode_chat gives a child its next prompt",
    rest: "GET /api/v1/sessions/KEY shows it, POST /api/v1/sessions/KEY/chat gives a child its next prompt",
    terminal: "`plexus sessions` lists it, `plexus run NAME PROMPT` gives a child its next prompt",
  },
  update: { mcp: "claudecode_update", rest: "PATCH /api/v1/sessions/KEY", terminal: "`plexus sessions update`" },
  remove: {
    mcp: "claudecode_delete",
    rest: "DELETE /api/v1/sessions/KEY",
    terminal: "on the page, or `plexus call claudecode_delete`",
  },
  cancel: {
    mcp: "claudecode_cancel",
    rest: "POST /api/v1/sessions/KEY/cancel",
    terminal: "on the page, or `plexus call claudecode_cancel`",
  },
  fork: {
    mcp: "claudecode_fork, with its id as name",
    rest: "POST /api/v1/sessions/ID/fork",
    terminal: "`plexus call claudecode_fork`, with its id as name",
  },
  tokens: { rest: "GET /api/v1/tokens", terminal: "`plexus token list`" },
} as const satisfies Record<string, Partial<Record<Door, string>>>;

/** The name of each step in an interface, in parentheses after a space; empty if none is needed. */
export type Ways = Readonly<Record<keyof typeof NAMES, string>>;

/** Returns the names for an interface; all are empty without one, as for a stored text, whose reader is unknown. */
export function waysOf(door: Door | undefined): Ways {
  const named = Object.entries<Partial<Record<Door, string>>>(NAMES).map(([what, names]) => {
    const name = door && names[door];
    return [what, name === undefined ? "" : ` (${name})`];
  });
  return Object.fromEntries(named);
}
