import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { jsonInput } from "../sessions/json-input.ts";
import { sendDecision } from "./decision.ts";

type Options = Flags & { message?: string; input?: string; json?: true };

export function allowCommand(terminal: Terminal): Command {
  return clientCommand("allow", "allow a pending request, once")
    .argument("<ID>", "the request's id, as `plexus pending` shows it")
    .option("-m, --message <NOTE>", "a note for the record")
    .option("--input <JSON>", "run the tool with this input instead, a whole JSON object; - reads standard input")
    .option("--json", "print JSON")
    .action(async (id: string, options: Options) => {
      const config = readConfig(options);
      const { message, input, json = false } = options;
      const updated_input = input === undefined ? undefined : await jsonInput("--input", input, terminal);
      await sendDecision(config, { id, decision: { approve: true, message, updated_input }, json }, terminal);
    });
}
