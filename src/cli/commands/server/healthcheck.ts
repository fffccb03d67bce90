import { Command } from "commander";
import { type Config, type Flags, localUrl, readConfig } from "../../../config.ts";
import { isAlive } from "../../../contract/routes/server.ts";
import { fetchDirectly, isServerFailure, locateServer } from "../../server/server-client.ts";
import { withSettings } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";

const ANSWER_WITHIN_MS = 4_000;

export function healthcheckCommand(terminal: Terminal): Command {
  const command = new Command("healthcheck").description("say whether the server is alive, with the exit code 0 or 1");
  return withSettings(command, ["host", "port", "dataDir", "url"])
    .option("--json", "print JSON")
    .action(async (options: Flags & { json?: true }) => {
      const config = readConfig(options);
      const url = await healthyUrl(config, options);
      terminal.out(options.json ? jsonText({ status: "ok", url }, terminal) : `Plexus is alive at ${url}\n`);
    });
}

/** Ends with one of two outcomes, as a container's health check expects. */
async function healthyUrl(config: Config, { host, port }: Flags): Promise<string> {
  try {
    const url = (host ?? port) ? localUrl(config.host, config.port) : locateServer(config).url;
    const response = await fetchDirectly(`${url}${isAlive.path}`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    if (response.ok && isAlive.answer.safeParse(await response.json().catch(() => undefined)).success) return url;
    throw new CommandFailed(`${url} does not answer like Plexus (HTTP ${response.status}).`);
  } catch (cause) {
    throw isServerFailure(cause) ? new CommandFailed(cause.message) : cause;
  }
}
