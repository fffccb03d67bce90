import type { Command } from "commander";
import { type Config, type Flags, readConfig, UsageError } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import { printable } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";

type Options = Flags & { carrier?: true };

export function mcpCommand(terminal: Terminal): Command {
  return clientCommand("mcp", "the MCP service on standard input and output, for clients that speak only that")
    .option("--carrier", "carry a child's requests: to PLEXUS_URL, with PLEXUS_TOKEN, and nothing from the data dir")
    .action(async (options: Options) => {
      const config = readConfig(options);
      if (options.carrier) refuseIncomplete(config);
      const { bridge } = await import("../../server/bridge.ts");
      await bridge(config, (line) => terminal.err(`plexus: ${printable(line)}\n`));
    });
}

/** With both settings given, the command looks up nothing. */
function refuseIncomplete(config: Config): void {
  if (config.url && config.token) return;
  throw new UsageError(
    "--carrier needs PLEXUS_URL and PLEXUS_TOKEN: Plexus sets both for the children that it starts.",
  );
}
