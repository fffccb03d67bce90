import type { FoundClaude } from "../../../app.ts";
import type { Config } from "../../../config.ts";
import type { RulesFileStatus } from "../../../contract/rules/rule.ts";
import { VERSION } from "../../../version.ts";
import { printable } from "../../terminal/printable.ts";
import { bold, type Terminal } from "../../terminal/terminal.ts";
import { selfCommand } from "../self-command.ts";

export const AUTH_NONE_WARNING = "--auth none: every process on this machine may decide, children too";

/** The server's address, and the address that signs in one page. */
type Addresses = { url: string; page: string };
/** What the server found when it started. */
type Found = { claude: FoundClaude; rules: RulesFileStatus | undefined };

/** The first steps for a new user, with commands that work as printed in another terminal. */
export function welcome(config: Config, { url, page }: Addresses, found: Found, terminal: Terminal): string {
  const self = (says: string, ...words: string[]) => `  ${selfCommand(config, ...words)}\n      ${says}\n`;
  return `${bold(`Plexus ${VERSION} listens on ${url}`, terminal)}
${notes(config, found)}
In a browser (this address signs one page in, once, within 10 minutes):

  ${page}

In another terminal${Bun.isStandaloneExecutable ? "" : ", in this directory"}:

${self("shows the page in your browser, signed in", "open")}${self("runs a child here, and asks you", "run", "say hello")}${self("lists all requests, decided by key", "watch")}${self("makes Plexus known to your Claude Code", "connect", "claude")}${self("for a claude that you start by hand", "configure", "--out", "child.json")}
${rulesNote(found)}Data: ${config.dataDir}. Requests and decisions are shown below. Stop with Ctrl-C.
`;
}

function notes(config: Config, { claude, rules }: Found): string {
  const lines: string[] = [];
  if (config.auth === "none") lines.push(`Warning: ${AUTH_NONE_WARNING}.`);
  else if (config.token) lines.push("Every terminal below needs the PLEXUS_TOKEN that this server was started with.");
  if ("problem" in claude) lines.push(`Children can't be started yet: ${claude.problem}`);
  if (rules && !rules.ok) {
    lines.push(`The rules in ${rules.path} have a mistake: nothing that they allow is allowed until it is corrected.`);
    lines.push(...rules.problems.map((problem) => `  ${printable(problem)}`));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function rulesNote({ rules }: Found): string {
  return rules ? `Rules: ${rules.path} (${rules.rules}), read again when it changes.\n` : "";
}
