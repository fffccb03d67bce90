import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { AnyErrorResult } from "../../../contract/refusals/errors.ts";
import { clientCommand } from "../../server/settings.ts";
import { callServerTool } from "../../server/tool-call.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";
import { jsonInput } from "./json-input.ts";

export function callCommand(terminal: Terminal): Command {
  return clientCommand("call", "call any MCP tool of the server, and print its result as JSON")
    .argument("<TOOL>", "the tool, such as loopback_pending")
    .argument("[JSON]", "its arguments, a JSON object; - reads standard input", "{}")
    .option("--json", "print JSON (it always does)")
    .action(async (tool: string, json: string, options: Flags) => {
      const config = readConfig(options);
      const args = await jsonInput("JSON", json, terminal);
      const { isError, value } = await callServerTool(config, tool, args);
      terminal.out(jsonText(value, terminal));
      if (!isError) return;
      const { code = "error" } = AnyErrorResult.safeParse(value).data ?? {};
      throw new CommandFailed(`${tool} was refused (${code}).`);
    });
}
