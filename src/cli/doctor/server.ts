import type { Config } from "../../config.ts";
import { isAlive, isReady } from "../../contract/routes/server.ts";
import { whoAmI } from "../../contract/routes/sign-in.ts";
import { callTool } from "../../mcp/client.ts";
import { VERSION } from "../../version.ts";
import { fetchDirectly, isServerFailure, locateServer, openApi } from "../server/server-client.ts";
import { Failing } from "./finding.ts";

const PROBE_MS = 4_000;
const MCP_REMEDY = "See its log; a proxy in front of it must pass /mcp on, without buffering.";

/** Whether a server answers at the address for this data dir. Another check reports a data dir that can't be read. */
export async function isServed(config: Config, signal: AbortSignal): Promise<boolean> {
  try {
    return await answers(locateServer(config).url, signal);
  } catch (cause) {
    if (isServerFailure(cause)) return false;
    throw cause;
  }
}

export async function lookAtServer(config: Config, signal: AbortSignal): Promise<string> {
  const { url } = locateServer(config);
  if (await answers(url, signal)) return `answers at ${url}`;
  throw new Failing(`${url} does not answer like Plexus.`, "Correct --url or PLEXUS_URL.");
}

/** Checks that the server accepts the token that commands and agents would send, and that it can write. */
export async function lookAtToken(config: Config, signal: AbortSignal): Promise<string> {
  const api = await openApi(config, signal);
  const { name, version } = await api.call(whoAmI);
  await api.call(isReady);
  const called = await callTool(api, "loopback_pending", {});
  if (called?.isError !== false) throw new Failing("The server answers no MCP calls.", MCP_REMEDY);
  const other = version === VERSION ? "" : `; the server is Plexus ${version}, this is ${VERSION}`;
  return `the server knows you as ${name}${other}`;
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
  const response = await fetchDirectly(`${url}${isAlive.path}`, { signal: soon });
  return isAlive.answer.safeParse(await response.json().catch(() => undefined)).success;
}
