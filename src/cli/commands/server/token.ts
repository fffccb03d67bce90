import { Command } from "commander";
import { type Config, type Flags, readConfig } from "../../../config.ts";
import { createToken, listTokens, revokeToken, signOutPages } from "../../../contract/routes/tokens.ts";
import { openApi, storedToken, tokenIsElsewhere } from "../../server/server-client.ts";
import { isGone, readServerFile } from "../../server/server-file.ts";
import { clientCommand, withSettings } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import { nameArgument } from "../sessions/name-argument.ts";

type Options = Flags & { json?: true };

export function tokenCommand(terminal: Terminal): Command {
  return new Command("token")
    .description("the tokens that say who is calling")
    .addCommand(showCommand(terminal))
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(revokeCommand(terminal));
}

function showCommand(terminal: Terminal): Command {
  const command = new Command("show").description("print the operator's token (PLEXUS_TOKEN, or that of the data dir)");
  return withSettings(command, ["dataDir"])
    .option("--json", "print JSON")
    .option("--header", "print it as the header to send, in JSON: for the headersHelper of an MCP client")
    .action((options: Options & { header?: true }) => {
      const token = operatorToken(readConfig(options));
      if (options.header) return terminal.out(`${JSON.stringify({ Authorization: `Bearer ${token}` })}\n`);
      terminal.out(options.json ? jsonText({ token }, terminal) : `${token}\n`);
    });
}

/** The operator's token. A running server that got another token does not accept the stored one. */
function operatorToken(config: Config): string {
  if (config.token) return config.token;
  const server = readServerFile(config.dataDir);
  if (server?.operator_token === "environment" && !isGone(server)) throw tokenIsElsewhere(server.url);
  const token = storedToken(config);
  if (token) return token;
  throw new CommandFailed(`There is no token in ${config.dataDir} yet: the first \`plexus serve\` makes it.`);
}

function createCommand(terminal: Terminal): Command {
  return clientCommand("create", "make a token that sees and decides only what it created; it is shown this once")
    .argument("<NAME>", "what to call it")
    .option("--grant <FILE>", 'it may allow only this by itself: TOML or JSON, grant = ["Bash(npm test)"]')
    .option("--json", "print JSON")
    .action(async (name: string, { grant: file, ...options }: Options & { grant?: string }) => {
      const grant = file === undefined ? {} : { grant: (await import("./grant-file.ts")).readGrant(file) };
      const api = await openApi(readConfig(options));
      const created = await api.call(createToken, { body: { name: nameArgument(name), ...grant } });
      if (options.json) return terminal.out(jsonText(created, terminal));
      terminal.out(`${created.token}\n`);
      terminal.err(`This is the only time that the token of "${created.name}" is shown.\n`);
    });
}

function listCommand(terminal: Terminal): Command {
  return clientCommand("list", "list the named tokens")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const api = await openApi(readConfig(options));
      const listed = await api.call(listTokens);
      if (options.json) return terminal.out(jsonText(listed, terminal));
      if (listed.tokens.length === 0) return terminal.err("There are no named tokens.\n");
      const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
      const minute = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
      const rows = listed.tokens.map(({ name, created_at, last_used_at, grant }) => [
        name,
        day(created_at),
        last_used_at === null ? "never" : minute(last_used_at),
        grant === undefined ? "all that its children ask" : grant.join(", ") || "nothing",
      ]);
      terminal.out(table(["NAME", "CREATED", "LAST USED (UTC)", "MAY ALLOW"], rows, terminal));
    });
}

function revokeCommand(terminal: Terminal): Command {
  return clientCommand("revoke", "revoke a named token at once, or the sign-in of every web page")
    .argument("[NAME]", "the token's name")
    .option("--web", "sign every web page out instead; links that were not opened yet work no more")
    .option("--json", "print JSON")
    .action(async (name: string | undefined, options: Options & { web?: true }) => {
      if ((name === undefined) !== (options.web === true))
        throw new CommandFailed("Give the NAME of a token, or --web.", ExitCode.usage);
      const api = await openApi(readConfig(options));
      if (name === undefined) {
        const ended = await api.call(signOutPages, { query: { kind: "web" } });
        return terminal.out(options.json ? jsonText(ended, terminal) : `Signed out ${pagesText(ended.pages)}.\n`);
      }
      const revoked = await api.call(revokeToken, { params: { name: nameArgument(name) } });
      terminal.out(options.json ? jsonText(revoked, terminal) : `Revoked ${revoked.name}.\n`);
    });
}

function pagesText(count: number): string {
  return count === 1 ? "1 page" : `${count} pages`;
}
