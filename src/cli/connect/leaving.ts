import type { Config } from "../../config.ts";
import { isServerFailure } from "../server/server-client.ts";
import { revokeToken, tokenIn } from "./client-token.ts";
import type { Client } from "./clients.ts";
import type { Change } from "./joining.ts";
import { readSettings, writeSettings } from "./settings-file.ts";

type Wanted = { client: Client; config: Config; say: (line: string) => void };

/** Plans to remove the server from the client's settings and to revoke its token; `undefined` if there is no entry. */
export function planLeaving({ client, config, say }: Wanted): Change | undefined {
  const file = readSettings(client.file);
  const existing = client.format.entryIn(file.text);
  if (!existing) return undefined;
  const after = client.format.withoutEntry(file.text);
  return {
    file,
    after,
    async carryOut() {
      const backup = writeSettings(file, after);
      const token = tokenIn(existing);
      try {
        return { backup, tokenName: token && (await revokeToken(token, config)) };
      } catch (cause) {
        if (!isServerFailure(cause)) throw cause;
        say(`Its token was not revoked: ${cause.message} See \`plexus token list\`.`);
        return { backup, tokenName: undefined };
      }
    },
  };
}
