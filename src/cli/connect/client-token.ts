import { z } from "zod";
import type { Config } from "../../config.ts";
import { Caller } from "../../contract/sign-in.ts";
import type { JsonObject } from "../../contract/values.ts";
import { findServer, Refused } from "../server/server-client.ts";
import { CommandFailed } from "../terminal/terminal.ts";

const Named = z.object({ id: z.string(), name: z.string() });
const Created = z.object({ type: z.literal("created"), token: z.string() });
const Listed = z.object({ tokens: z.array(Named) });
const Revoked = z.object({ type: z.literal("revoked") });

/** The token in an entry, wherever it stands in there. */
export function tokenIn(entry: JsonObject | undefined): string | undefined {
  return /plx_[\w-]+/.exec(JSON.stringify(entry ?? {}))?.[0];
}

/** What this token is called, if the server knows it; the operator's has no name, and is more than a client needs. */
export async function nameOf(token: string, config: Config): Promise<string | undefined> {
  try {
    const { name } = await findServer({ ...config, token }).request(Caller, "GET", "/api/v1/me");
    return /^token:(.+)$/.exec(name)?.[1];
  } catch (cause) {
    if (cause instanceof Refused && cause.code === "unauthorized") return undefined;
    throw cause;
  }
}

export async function createToken(name: string, config: Config): Promise<string> {
  try {
    return (await findServer(config).request(Created, "POST", "/api/v1/tokens", { name })).token;
  } catch (cause) {
    if (!(cause instanceof Refused) || cause.code !== "name_taken") throw cause;
    throw new CommandFailed(
      `A token named "${name}" exists, and is not in these settings: choose another --name, or revoke it with \`plexus token revoke ${name}\` (what it has created is then yours alone).`,
    );
  }
}

/** Revokes the token by its public half; returns its name, or nothing where the server has forgotten it. */
export async function revokeToken(token: string, config: Config): Promise<string | undefined> {
  const server = findServer(config);
  const { tokens } = await server.request(Listed, "GET", "/api/v1/tokens");
  const found = tokens.find(({ id }) => token.startsWith(`plx_${id}_`));
  if (found) await server.request(Revoked, "DELETE", `/api/v1/tokens/${encodeURIComponent(found.name)}`);
  return found?.name;
}
