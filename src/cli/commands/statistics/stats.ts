import { type Command, Option } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { getStatistics } from "../../../contract/routes/statistics.ts";
import { StatisticsRange } from "../../../contract/statistics.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { statisticsText } from "./statistics-text.ts";

type Options = Flags & { range: StatisticsRange; json?: true };

export function statsCommand(terminal: Terminal): Command {
  return clientCommand("stats", "show what was spent and decided over time, by whom, and what needs attention")
    .addOption(new Option("--range <RANGE>", "how far back to look").choices(StatisticsRange.options).default("24h"))
    .option("--json", "print JSON")
    .action(async ({ range, json, ...flags }: Options) => {
      const api = await openApi(readConfig({ dataDir: flags.dataDir, url: flags.url }));
      const utc_offset_mins = -new Date().getTimezoneOffset();
      const found = await api.call(getStatistics, { query: { range, utc_offset_mins } });
      terminal.out(json ? jsonText(found, terminal) : statisticsText(found, terminal));
    });
}
