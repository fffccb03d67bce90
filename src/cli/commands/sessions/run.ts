import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { Refused } from "../../../contract/refused.ts";
import { chat, createSession, getSession } from "../../../contract/routes/sessions.ts";
import type { SessionDetail } from "../../../contract/sessions/session-view.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { watchTurn } from "../../watch/turn.ts";
import { nameArgument } from "./name-argument.ts";
import { realPath, refuseDifferent, type SessionFlags, settingsOf, withSessionFlags } from "./session-flags.ts";

const HELP = `
Requests are decided here with the keys of \`plexus watch\`, a (allow), d (deny), e (edit), 1-9 and Enter (answer) and s
(leave it to others), or elsewhere by whoever is first. A dangerous request needs a second press.
Ctrl-C cancels the turn, a second one leaves it running.
Exit codes: 0 complete, 1 failed, 5 cancelled or left; see \`plexus --help\` for the others.`;

type Options = Omit<Flags, keyof SessionFlags> & SessionFlags & { ephemeral?: true; json?: true };

export function runCommand(terminal: Terminal): Command {
  const command = clientCommand("run", "give a session work, show what happens, and ask for decisions")
    .argument("<NAME>", "the session; made if there is none of that name")
    .argument("[PROMPT]", "what the child is to do; - or none reads standard input");
  return withSessionFlags(command)
    .option("--ephemeral", "leave no trace of this turn in later ones")
    .option("--json", "print one JSON object for each event, one a line")
    .addHelpText("after", HELP)
    .action(async (name: string, given: string | undefined, options: Options) => {
      const { dataDir, url } = options;
      const config = readConfig({ dataDir, url });
      const key = nameArgument(name);
      const prompt = await promptOf(given, terminal);
      const api = await openApi(config);
      const session = await openSession(api, key, options, terminal);
      const start = async () => {
        const work = { prompt, ephemeral: options.ephemeral };
        const started = await api.call(chat, { params: { key: session.id }, body: work });
        if ("place" in started) terminal.err(`Other children run: queued at place ${started.place}.\n`);
        return started.turn_id;
      };
      await watchTurn({
        config,
        api,
        session,
        start,
        json: options.json === true,
        terminal,
      });
    });
}

async function promptOf(given: string | undefined, terminal: Terminal): Promise<string> {
  if (given !== undefined && given !== "-") return notEmpty(given);
  if (process.stdin.isTTY) terminal.err("Type the prompt, and end it with Ctrl-D on a line of its own.\n");
  return notEmpty(await terminal.input());
}

function notEmpty(prompt: string): string {
  if (prompt.trim() !== "") return prompt;
  throw new UsageError("PROMPT must not be empty: say what the child is to do.");
}

type Opened = { id: string; name: string };

/** The session of this name as it is, or a new one as asked for. */
async function openSession(api: Api, name: string, flags: SessionFlags, terminal: Terminal): Promise<Opened> {
  const asked = settingsOf(flags);
  const found = await findSession(api, name);
  if (!found) {
    const working_dir = asked.working_dir ?? realPath(".");
    return api.call(createSession, { body: { ...asked, name, working_dir } });
  }
  refuseDifferent(found, asked);
  if (found.working_dir !== undefined && found.working_dir !== realPath("."))
    terminal.err(`Session "${found.name}" works in ${found.working_dir}.\n`);
  return found;
}

async function findSession(api: Api, name: string): Promise<SessionDetail | undefined> {
  try {
    return (await api.call(getSession, { params: { key: name } })).config;
  } catch (cause) {
    if (cause instanceof Refused && cause.code === "not_found") return undefined;
    throw cause;
  }
}
