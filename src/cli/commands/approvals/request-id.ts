import type { Api } from "../../../client/api.ts";
import { isShortId, shortId, shortIds } from "../../../client/words/short-id.ts";
import { UsageError } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { getApproval, listApprovals } from "../../../contract/routes/approvals.ts";
import { requestText } from "../../terminal/request-text.ts";
import { CommandFailed } from "../../terminal/terminal.ts";

const LISTED_CHARS = 2_000;
/** How many decisions to search for a request that is no longer pending. */
const DECIDED = 1_000;
/** `--last` requires that the request was visible for this long. */
const SEEN_SECS = 5;
const SHOWN = 5;
const SHOWN_CHARS = 60;

export type WhichRequest = { id: string | undefined; last: true | undefined };
/** The request's id, and its name in the output. */
type Meant = { id: string; called: string };

/** The request that the arguments mean: by its whole id, by the end of it, or the newest one. */
export async function meantRequest(api: Api, { id }: WhichRequest, verb: "allow" | "deny"): Promise<Meant> {
  if (id !== undefined) return { id: isShortId(id) ? await endingWith(api, id) : id, called: id };
  const one = await newest(api, verb);
  return { id: one.id, called: `${shortId(one.id)}: ${requestText(one).slice(0, SHOWN_CHARS)}` };
}

/** Refuses arguments that name no request, or two, before any call to the server. */
export function refuseUnnamed({ id, last }: WhichRequest): void {
  if (id !== undefined && last) throw new UsageError("Give an ID or --last, not both.");
  if (id === undefined && !last)
    throw new UsageError("Which request? Give its ID, which `plexus pending` shows, or --last for the newest one.");
  if (id === undefined || /^[A-Za-z0-9-]{4,}$/.test(id)) return;
  throw new UsageError(
    `"${id}" is not an id: \`plexus pending\` shows them; the last four characters of one are enough.`,
  );
}

async function endingWith(api: Api, end: string): Promise<string> {
  const waiting = (await pending(api)).filter(({ id }) => id.endsWith(end));
  const found = waiting.length > 0 ? waiting : (await decided(api)).filter(({ id }) => id.endsWith(end));
  const [one, ...others] = found;
  if (!one) throw new CommandFailed(`There is no request ${end}: \`plexus pending\` shows those that need approval.`);
  if (others.length === 0) return one.id;
  throw new CommandFailed(`${found.length} requests end with ${end}: give more of the id. ${listed(found)}`);
}

/**
 * The newest request. Refuses if the person may not have seen it yet, or if it is too dangerous to allow without naming
 * it.
 */
async function newest(api: Api, verb: "allow" | "deny"): Promise<Approval> {
  const waiting = await pending(api);
  const one = waiting.at(-1);
  if (!one) throw new CommandFailed("No pending requests.");
  if (waiting.length > 1 && Date.now() / 1000 - one.created_at < SEEN_SECS)
    throw new CommandFailed(`A request has just come in: name the one that you mean. ${listed(waiting.toReversed())}`);
  if (verb === "deny") return one;
  const { dangers = [] } = (await api.call(getApproval, { params: { id: one.id } })).approval;
  if (dangers.length === 0) return one;
  const reasons = dangers.map(({ text }) => text).join("; ");
  const short = shortIds(waiting.map(({ id }) => id))(one.id);
  throw new CommandFailed(
    `${requestText(one).slice(0, SHOWN_CHARS)}: it ${reasons}. Name it to allow it: \`plexus allow ${short}\`.`,
  );
}

async function pending(api: Api): Promise<Approval[]> {
  const { allPending } = await import("../../../client/pending.ts");
  return allPending(api, { max_chars: LISTED_CHARS, context: "false" });
}

async function decided(api: Api): Promise<Approval[]> {
  const query = { status: "resolved", limit: DECIDED, max_chars: LISTED_CHARS } as const;
  return (await api.call(listApprovals, { query })).approvals;
}

function listed(approvals: Approval[]): string {
  const short = shortIds(approvals.map(({ id }) => id));
  const texts = approvals.slice(0, SHOWN).map((one) => `${short(one.id)}: ${requestText(one).slice(0, SHOWN_CHARS)}`);
  return `${texts.join("; ")}${approvals.length > SHOWN ? "; …" : ""}`;
}
