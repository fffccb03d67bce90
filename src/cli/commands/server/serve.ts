import { Command, Option } from "commander";
import { type Flags, readConfig, type Setting } from "../../../config.ts";
import { withSettings } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const SETTINGS: Setting[] = [
  "host",
  "port",
  "dataDir",
  "auth",
  "claude",
  "approvalTimeoutSecs",
  "maxRunning",
  "workspace",
  "mcpServers",
  "rules",
  "retentionDays",
  "builtinRetentionDays",
  "maxHistoryMb",
  "logLevel",
  "allowedHosts",
  "webhook",
  "publicUrl",
  "push",
  "pushHosts",
  "updateSource",
];

/** For a server that must not outlive the process that started it. */
export const UNTIL_INPUT_ENDS = "--until-input-ends";

type Options = Flags & { takeover?: true; untilInputEnds?: true };

export function serveCommand(terminal: Terminal): Command {
  const command = new Command("serve").description("start the server; plexus alone does the same");
  command.option("--takeover", "take over from the server that runs on this data dir; its children go on");
  command.addOption(new Option(UNTIL_INPUT_ENDS, "stop when standard input ends").hideHelp());
  return withSettings(command, SETTINGS).action(async ({ takeover, untilInputEnds, ...flags }: Options) => {
    const config = readConfig(flags);
    // Loaded only here, so that the other commands start without the code of the server.
    const { serve } = await import("../../server/server-process.ts");
    await serve(config, terminal, { takeover, untilInputEnds });
  });
}
