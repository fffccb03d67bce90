import type { Command } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { updateSession } from "../../../contract/routes/sessions.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { nameArgument } from "./name-argument.ts";
import { printWarnings, type SessionFlags, settingsOf, withSessionFlags } from "./session-flags.ts";
import { sessionKey } from "./session-key.ts";

type Options = Omit<Flags, keyof SessionFlags> & SessionFlags & { json?: true };

export function updateCommand(terminal: Terminal): Command {
  const command = clientCommand("update", "change settings of a session, from its next turn on").argument(
    "<NAME>",
    "the session's name or id",
  );
  return withSessionFlags(command)
    .option("--json", "print JSON")
    .action(async (name: string, _: object, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const { dataDir, url } = options;
      const body = settingsOf(options);
      if (Object.keys(body).length === 0) throw new UsageError("Nothing is to change: give the flag of a setting.");
      const api = await openApi(readConfig({ dataDir, url }));
      const key = await sessionKey(api, nameArgument(name));
      const updated = await api.call(updateSession, { params: { key }, body });
      if (options.json) return terminal.out(jsonText(updated, terminal));
      printWarnings(updated, terminal);
      const rules = body.rules && "; its rules are these, and no others, from now on";
      terminal.err(`Session "${updated.config.name}" has these settings from its next turn on${rules ?? ""}.\n`);
    });
}
