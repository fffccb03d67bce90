import { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { confirm } from "../../connect/confirmation.ts";
import { stopWarning, workOf } from "../../server/console/unfinished-work.ts";
import { openApi } from "../../server/server-client.ts";
import { isGone, readServerFile } from "../../server/server-file.ts";
import { withSettings } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";

const GONE_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 20;

type Options = Flags & { yes?: true; json?: true };

export function stopCommand(terminal: Terminal): Command {
  const command = new Command("stop").description("stop the server of the data dir, and its children");
  return withSettings(command, ["dataDir"])
    .option("-y, --yes", "also while children run or requests wait")
    .option("--json", "print JSON")
    .action(async ({ yes, json, ...flags }: Options) => {
      const config = readConfig(flags);
      const server = readServerFile(config.dataDir);
      if (!server || isGone(server))
        throw new CommandFailed(`No Plexus serves ${config.dataDir}: there is nothing to stop.`, ExitCode.unreachable);
      const warning = yes ? undefined : stopWarning(await workOf(await openApi({ ...config, url: undefined })));
      if (warning !== undefined) {
        terminal.err(`${warning}\n`);
        await confirm("Stop it all the same?", terminal, "--yes stops it.");
      }
      process.kill(server.pid, "SIGTERM");
      const deadline = performance.now() + GONE_WITHIN_MS;
      while (!isGone(server)) {
        if (performance.now() > deadline)
          throw new CommandFailed(`Process ${server.pid} has not stopped within ${GONE_WITHIN_MS / 1000} s.`);
        await Bun.sleep(LOOK_EVERY_MS);
      }
      terminal.out(
        json ? jsonText({ type: "ok", pid: server.pid, url: server.url }, terminal) : `Stopped ${server.url}.\n`,
      );
    });
}
