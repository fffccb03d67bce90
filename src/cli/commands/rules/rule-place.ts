import type { Api } from "../../../client/api.ts";
import { Refused } from "../../../contract/refusals/refused.ts";
import { getSession } from "../../../contract/routes/sessions.ts";
import { listTokens } from "../../../contract/routes/tokens.ts";
import type { Rule } from "../../../contract/rules/rule.ts";

/** Where each rule holds, in words: sessions and tokens by their names. */
export async function placesOf(api: Api, rules: Rule[]): Promise<(rule: Rule) => string> {
  const sessions = await sessionNames(api, rules);
  const tokens = rules.some(({ tier }) => tier === "token") ? await tokenNames(api) : new Map<string, string>();
  return ({ tier, session_id, owner }) => {
    if (session_id !== undefined) return sessions.get(session_id) ?? session_id;
    if (tier === "token") return `all of ${tokens.get(owner ?? "") ?? "yours"}`;
    return owner === undefined ? "everywhere" : `all of ${owner}`;
  };
}

async function sessionNames(api: Api, rules: Rule[]): Promise<Map<string, string>> {
  const ids = new Set(rules.flatMap(({ session_id }) => session_id ?? []));
  const named = [...ids].map(async (key): Promise<[string, string]> => {
    const found = await unlessRefused(api.call(getSession, { params: { key } }));
    return [key, found?.config.name ?? key];
  });
  return new Map(await Promise.all(named));
}

/** The operator alone may list them; a token sees no rules but its own. */
async function tokenNames(api: Api): Promise<Map<string, string>> {
  const { tokens } = (await unlessRefused(api.call(listTokens))) ?? { tokens: [] };
  return new Map(tokens.map(({ id, name }) => [`token:${id}`, name]));
}

function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((cause) => {
    if (cause instanceof Refused) return undefined;
    throw cause;
  });
}
