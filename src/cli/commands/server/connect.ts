import { Argument, type Command } from "commander";
import { CLIENTS, type ClientName } from "../../../claude/launch/client-files.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { changeText } from "../../connect/change-text.ts";
import { type Client, clientOf } from "../../connect/clients.ts";
import { Unreadable } from "../../connect/config-format.ts";
import { confirm } from "../../connect/confirmation.ts";
import { type Change, joiningText, planJoining } from "../../connect/joining.ts";
import { planLeaving } from "../../connect/leaving.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";
import { nameArgument } from "../sessions/name-argument.ts";

const HELP = `
It shows the change first and asks, keeps the old file beside the new one, and leaves everything else in it alone. The
client gets a token of its own, which sees and decides only what the client has created; it stands in the client's
settings, which nobody but you can read then, and is not shown. Run it again when the server's address has changed: the
token stays. --remove takes the entry out, and revokes the token.`;

type Options = Flags & { name?: string; print?: true; yes?: true; remove?: true; json?: true };

export function connectCommand(terminal: Terminal): Command {
  return clientCommand("connect", "make Plexus known to an MCP client, in the settings of its user")
    .addArgument(new Argument("<CLIENT>", "the client").choices(CLIENTS))
    .option("--print", "write nothing, make no token: print what belongs in its settings")
    .option("-y, --yes", "do not ask")
    .option("--name <NAME>", "what to call the client's token (as the client)")
    .option("--remove", "take it out of the settings again")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (clientName: ClientName, options: Options) => {
      const { dataDir, url, name, remove } = options;
      const config = readConfig({ dataDir, url });
      const client = clientOf(clientName, config);
      const wanted = { client, config, name: nameArgument(name ?? clientName), isNameGiven: name !== undefined };
      const say = (line: string) => terminal.err(`${line}\n`);
      try {
        if (options.print && !remove) {
          const { text, hint } = await joiningText(wanted);
          terminal.out(text);
          return hint === undefined ? undefined : say(hint);
        }
        const change = remove ? planLeaving({ client, config, say }) : await planJoining(wanted);
        await settle(change, client, options, terminal);
      } catch (cause) {
        if (!(cause instanceof Unreadable)) throw cause;
        const byHand = remove ? "take it out by hand" : "correct it, or put in by hand what --print prints";
        throw new CommandFailed(`${client.file} ${cause.message}, so nothing was written: ${byHand}.`);
      }
    });
}

/** Shows the change, and makes it once the person agrees. */
async function settle(change: Change | undefined, client: Client, options: Options, terminal: Terminal): Promise<void> {
  const { remove = false, print = false, yes = false, json = false } = options;
  if (!change) {
    const asIs = remove
      ? `Plexus is not in ${client.file}.`
      : `${client.file} has it already, with a token that works.`;
    return terminal.out(json ? jsonText({ type: "ok", changed: false, file: client.file }, terminal) : `${asIs}\n`);
  }
  const { path, text } = change.file;
  if (!json) terminal.out(changeText(path, text, change.after, terminal));
  if (print) return;
  if (!yes) await confirm(remove ? "Take it out, and revoke its token?" : "Write this?", terminal);
  const { backup, tokenName } = await change.carryOut();
  if (json)
    return terminal.out(jsonText({ type: "ok", changed: true, file: path, backup, token: tokenName }, terminal));
  if (backup) terminal.out(`The file as it was is ${backup}\n`);
  terminal.out(remove ? left(client, tokenName) : joined(client, tokenName));
}

function joined({ title, next }: Client, tokenName: string | undefined): string {
  return `${title} knows Plexus now. Its token, "${tokenName}", sees and decides only what it creates.\n${next}\n`;
}

function left({ title }: Client, tokenName: string | undefined): string {
  const revoked = tokenName === undefined ? "" : ` Its token, "${tokenName}", is revoked.`;
  return `${title} does not know Plexus any more.${revoked}\n`;
}
