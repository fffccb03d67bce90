import type { FoundClaude } from "../../app.ts";
import type { Config } from "../../config.ts";
import { VERSION } from "../../version.ts";
import { shellLine } from "../terminal/shell.ts";
import { bold, type Terminal } from "../terminal/terminal.ts";
import { selfCommand } from "./self-command.ts";

export const AUTH_NONE_WARNING = "--auth none: every process on this machine may decide, children too";

/** Where the server is reached, and where its page signs in, once. */
type Addresses = { url: string; page: string };

/** What a new user needs, in lines that work as they are in another terminal. */
export function welcome(config: Config, { url, page }: Addresses, claude: FoundClaude, terminal: Terminal): string {
  const self = (...words: string[]) => `  ${selfCommand(config, ...words)}\n`;
  return `${bold(`Plexus ${VERSION} listens on ${url}`, terminal)}
${notes(config, claude)}
Add it to Claude Code, in another terminal:

  ${addToClaude(config, url)}

Or make the config for one claude that you start by hand:

${self("configure", "--out", "child.json")}
See the requests that need approval, and decide, in a browser (this address works once, for 10 minutes) or here:

  ${page}

${self("open")}${self("watch")}${self("pending")}${self("allow", "ID")}${self("deny", "ID", "-m", "the reason")}
Data: ${config.dataDir}. Stop with Ctrl-C.
`;
}

function notes(config: Config, claude: FoundClaude): string {
  const lines: string[] = [];
  if (config.auth === "none") lines.push(`Warning: ${AUTH_NONE_WARNING}.`);
  else if (config.token) lines.push("Every terminal below needs the PLEXUS_TOKEN that this server was started with.");
  if ("problem" in claude) lines.push(`Children can't be started yet: ${claude.problem}`);
  return lines.map((line) => `${line}\n`).join("");
}

/** Claude Code asks for the token whenever it connects, so that none stands on the screen, in argv or in its settings. */
function addToClaude(config: Config, url: string): string {
  const server = { type: "http", url: `${url}/mcp` };
  const headersHelper =
    config.auth === "none" ? {} : { headersHelper: selfCommand(config, "token", "show", "--header") };
  return shellLine([
    ..."claude mcp add-json --scope user plexus".split(" "),
    JSON.stringify({ ...server, ...headersHelper }),
  ]);
}
