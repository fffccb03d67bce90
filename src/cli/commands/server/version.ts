import { Command } from "commander";
import { COMMIT, VERSION } from "../../../version.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export function versionCommand(terminal: Terminal): Command {
  return new Command("version")
    .description("print the version, and the commit that it was built from")
    .option("--json", "print JSON")
    .action(({ json }: { json?: true }) => {
      if (json) return terminal.out(jsonText({ name: "plexus", version: VERSION, commit: COMMIT ?? null }, terminal));
      terminal.out(`plexus ${VERSION}${COMMIT === undefined ? "" : ` (${COMMIT})`}\n`);
    });
}
