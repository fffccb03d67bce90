import type { Config } from "../../config.ts";
import { whoAmI } from "../../contract/routes/sign-in.ts";
import type { JsonObject } from "../../contract/values.ts";
import { openApi, reachServer } from "../server/server-client.ts";
import { createToken, nameOf, revokeToken, tokenIn } from "./client-token.ts";
import type { Client } from "./clients.ts";
import { updated } from "./config-format.ts";
import { readSettings, type SettingsFile, writeSettings } from "./settings-file.ts";

const PLACEHOLDER = "TOKEN";

/** A change of a client's settings that still needs the person's consent. */
export type Change = { file: SettingsFile; after: string; carryOut(): Promise<Written> };
type Written = { backup: string | undefined; tokenName: string | undefined };

type Wanted = { client: Client; config: Config /** The name for a new token. */; name: string; isNameGiven: boolean };

/**
 * Plans to add the server to the client's settings, with a token for the client alone; `undefined` if nothing is
 * missing.
 */
export async function planJoining(wanted: Wanted): Promise<Change | undefined> {
  const { client, config, name } = wanted;
  const { file, existing, kept, entryWith } = await look(wanted);
  if (kept && Bun.deepEquals(existing, entryWith(kept.token))) return undefined;
  const textWith = (token: string) => client.format.withEntry(file.text, entryWith(token));
  return {
    file,
    after: textWith(kept?.token ?? `(a new token: ${name})`),
    async carryOut() {
      if (kept) return { backup: writeSettings(file, textWith(kept.token)), tokenName: kept.name };
      const token = await createToken(name, config);
      try {
        return { backup: writeSettings(file, textWith(token)), tokenName: name };
      } catch (cause) {
        // The token was not stored anywhere, so revoke it.
        await revokeToken(token, config);
        throw cause;
      }
    },
  };
}

/** The entry for the settings, with their present token, or with a placeholder and a hint how to get a token. */
export async function joiningText(wanted: Wanted): Promise<{ text: string; hint: string | undefined }> {
  const { kept, entryWith } = await look(wanted);
  const text = wanted.client.format.alone(entryWith(kept?.token ?? PLACEHOLDER));
  return {
    text,
    hint: kept
      ? undefined
      : `Put a token in place of ${PLACEHOLDER}: \`plexus token create ${wanted.name}\` prints one.`,
  };
}

async function look({ client, config, name, isNameGiven }: Wanted) {
  const server = reachServer(config);
  const api = await openApi(config);
  // Check this before asking the person, because without it the change could not be made.
  await api.call(whoAmI);
  const file = readSettings(client.file);
  const existing = client.format.entryIn(file.text);
  const token = tokenIn(existing);
  const known = token === undefined ? undefined : await nameOf(token, config);
  const isFit = !isNameGiven || known === name;
  return {
    file,
    existing,
    kept: token !== undefined && known !== undefined && isFit ? { token, name: known } : undefined,
    entryWith: (withToken: string): JsonObject =>
      updated(existing, client.entry({ url: server.url, token: withToken })),
  };
}
