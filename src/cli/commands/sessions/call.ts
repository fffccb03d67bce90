import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { AnyErrorResult } from "../../../contract/refusals/errors.ts";
import { clientCommand } from "../../server/settings.ts";
import { callServerTool, inputSchemaOf } from "../../server/tool-call.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";
import { arePairs, argumentsIn } from "./call-arguments.ts";
import { jsonInput } from "./json-input.ts";

export function callCommand(terminal: Terminal): Command {
  return clientCommand("call", "call any MCP tool of the server, and print its result as JSON")
    .argument("<TOOL>", "the tool, such as loopback_pending")
    .argument("[ARGUMENTS...]", "its arguments: key=value, or one JSON object; - reads that from standard input")
    .option("--json", "print JSON (it always does)")
    .action(async (tool: string, words: string[], options: Flags) => {
      const config = readConfig(options);
      const [json = "{}"] = words;
      const args = arePairs(words)
        ? argumentsIn(words, await inputSchemaOf(config, tool))
        : await jsonInput("JSON", json, terminal);
      const { isError, value } = await callServerTool(config, tool, args);
      terminal.out(jsonText(value, terminal));
      if (!isError) return;
      const { code = "error" } = AnyErrorResult.safeParse(value).data ?? {};
      throw new CommandFailed(`${tool} was refused (${code}).`);
    });
}
