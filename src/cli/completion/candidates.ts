import type { Api } from "../../client/api.ts";
import { shortIds } from "../../client/words/short-id.ts";
import type { Config } from "../../config.ts";
import { listApprovals } from "../../contract/routes/approvals.ts";
import { listRules } from "../../contract/routes/rules.ts";
import { listSessions } from "../../contract/routes/sessions.ts";
import { listTokens } from "../../contract/routes/tokens.ts";
import { shortId } from "../commands/rules/rule-text.ts";
import { openApi } from "../server/server-client.ts";
import { printable } from "../terminal/printable.ts";
import { requestText } from "../terminal/request-text.ts";
import type { Candidates } from "./grammar.ts";

/** The longest time that a press of Tab may take. */
const WITHIN_MS = 1_500;
const MOST = 200;
const LISTED_CHARS = 2_000;

type Candidate = [value: string, help: string];
type Lister = (api: Api, options: { signal: AbortSignal }) => Promise<Candidate[]>;

const LISTS: Record<Candidates, Lister> = {
  async sessions(api, options) {
    const { sessions } = await api.call(listSessions, { query: { limit: MOST } }, options);
    return sessions.map(({ name, status }) => [name, status]);
  },
  async approvals(api, options) {
    const query = { status: "pending", limit: MOST, max_chars: LISTED_CHARS } as const;
    const { approvals } = await api.call(listApprovals, { query }, options);
    const short = shortIds(approvals.map(({ id }) => id));
    return approvals.map((one) => [short(one.id), `${one.session_name}: ${requestText(one).slice(0, 80)}`]);
  },
  async tokens(api, options) {
    const { tokens } = await api.call(listTokens, {}, options);
    return tokens.map(({ name }) => [name, "a named token"]);
  },
  async rules(api, options) {
    const { rules } = await api.call(listRules, {}, options);
    const changeable = rules.filter(({ tier }) => tier !== "file" && tier !== "builtin");
    return changeable.slice(0, MOST).map((rule) => [shortId(rule), `${rule.decision} ${rule.match}`]);
  },
};

/**
 * The possible values, one on each line with a short description; empty if the server can't be asked, for whatever
 * reason.
 */
export async function candidatesText(of: Candidates, config: () => Config): Promise<string> {
  try {
    const candidates = await LISTS[of](await openApi(config()), { signal: AbortSignal.timeout(WITHIN_MS) });
    return candidates.map((candidate) => `${candidate.map(printable).join("\t")}\n`).join("");
  } catch {
    return "";
  }
}
