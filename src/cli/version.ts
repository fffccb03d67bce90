import { Command } from "commander";
import { VERSION } from "../version.ts";
import { jsonText } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export function versionCommand(terminal: Terminal): Command {
  return new Command("version")
    .description("print the version")
    .option("--json", "print JSON")
    .action(({ json }: { json?: true }) => {
      terminal.out(json ? jsonText({ name: "plexus", version: VERSION }, terminal) : `plexus ${VERSION}\n`);
    });
}
