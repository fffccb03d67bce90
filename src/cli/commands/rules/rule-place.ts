import type { Api } from "../../../client/api.ts";
import { Refused } from "../../../contract/refusals/refused.ts";
import { getSession } from "../../../contract/routes/sessions.ts";
import type { Rule } from "../../../contract/rules/rule.ts";

/** The scope of each rule in words, with the names of sessions. */
export async function placesOf(api: Api, rules: Rule[]): Promise<(rule: Rule) => string> {
  const sessions = await sessionNames(api, rules);
  return ({ session_id, owner }) => {
    if (session_id !== undefined) return sessions.get(session_id) ?? session_id;
    return owner === undefined ? "everywhere" : `all of ${owner.replace(/^token:/, "")}`;
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

function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((cause) => {
    if (cause instanceof Refused) return undefined;
    throw cause;
  });
}
