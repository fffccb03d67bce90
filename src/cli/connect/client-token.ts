import type { Config } from "../../config.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { whoAmI } from "../../contract/routes/sign-in.ts";
import * as routes from "../../contract/routes/tokens.ts";
import type { JsonObject } from "../../contract/values.ts";
import { openApi } from "../server/server-client.ts";
import { CommandFailed } from "../terminal/terminal.ts";

/** The token that occurs anywhere in an entry. */
export function tokenIn(entry: JsonObject | undefined): string | undefined {
  return /plx_[\w-]+/.exec(JSON.stringify(entry ?? {}))?.[0];
}

/**
 * The name of this token, if the server knows it. The operator's token has no name, and has more rights than a client
 * needs.
 */
export async function nameOf(token: string, config: Config): Promise<string | undefined> {
  try {
    const api = await openApi({ ...config, token });
    const { name } = await api.call(whoAmI);
    return /^token:(.+)$/.exec(name)?.[1];
  } catch (cause) {
    if (cause instanceof Refused && cause.code === "unauthorized") return undefined;
    throw cause;
  }
}

export async function createToken(name: string, config: Config): Promise<string> {
  try {
    const api = await openApi(config);
    return (await api.call(routes.createToken, { body: { name } })).token;
  } catch (cause) {
    if (!(cause instanceof Refused) || cause.code !== "name_taken") throw cause;
    throw new CommandFailed(
      `A token named "${name}" exists, and is not in these settings: choose another --name, or revoke it with \`plexus token revoke ${name}\` (what it has created is then yours alone).`,
    );
  }
}

/** Revokes the token by its public half. Returns its name, or `undefined` if the server does not know it. */
export async function revokeToken(token: string, config: Config): Promise<string | undefined> {
  const api = await openApi(config);
  const { tokens } = await api.call(routes.listTokens);
  const found = tokens.find(({ id }) => token.startsWith(`plx_${id}_`));
  if (found) await api.call(routes.revokeToken, { params: { name: found.name } });
  return found?.name;
}
