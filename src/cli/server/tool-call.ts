import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import { type CallOutcome, callTool, listTools } from "../../mcp/client.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";
import { openApi, reachServer } from "./server-client.ts";

/** Calls a tool of the server that this command addresses, and waits as long as the tool does. */
export async function callServerTool(config: Config, tool: string, args: JsonObject): Promise<CallOutcome> {
  const { url } = reachServer(config);
  const outcome = await callTool(await openApi(config), tool, args);
  if (outcome) return outcome;
  throw new CommandFailed(`The connection to ${url} ended before an answer came.`, ExitCode.unreachable);
}

/** The schema of a tool's arguments, from the server's list for this caller; `undefined` for an unlisted tool. */
export async function inputSchemaOf(config: Config, tool: string): Promise<JsonObject | undefined> {
  const tools = await listTools(await openApi(config));
  return tools.find(({ name }) => name === tool.replaceAll(".", "_"))?.inputSchema;
}
