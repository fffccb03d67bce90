import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { chat, run } from "../../../contract/routes/sessions.ts";
import type { SessionDetail } from "../../../contract/sessions/session-view.ts";
import { Name } from "../../../contract/values.ts";
import { ensureServer } from "../../server/detached-server.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { watchTurn } from "../../watch/turn/turn.ts";
import { directorySession } from "./directory-session.ts";
import { nameArgument } from "./name-argument.ts";
import { printWarnings, realPath, type SessionFlags, settingsOf, withSessionFlags } from "./session-flags.ts";
import { findSession } from "./session-key.ts";

const HELP = `
plexus run PROMPT works in the session of this directory, which is named after it: the first time makes it, later ones
go on with its conversation. plexus run NAME PROMPT names another. Where no server runs, one is started, which goes on
in the background until \`plexus stop\`.
Requests are decided here with the keys of \`plexus watch\`, a (allow), A (allow and remember), d (deny), e (edit),
1-9 and Enter (answer) and s (leave it to others), or elsewhere by whoever is first. A dangerous request needs a second
press.
Ctrl-C cancels the turn, a second one leaves it running.
Exit codes: 0 done, 1 failed, 5 cancelled or left; see \`plexus --help\` for the others.`;

type Options = Omit<Flags, keyof SessionFlags> & SessionFlags & { ephemeral?: true; json?: true };

export function runCommand(terminal: Terminal): Command {
  const command = clientCommand("run", "give a child work here, show what happens, and ask for decisions")
    .usage("[options] [NAME] [PROMPT]")
    .argument("[NAME]", "the session; made if there is none of that name (that of this directory)")
    .argument("[PROMPT]", "what the child is to do; - or none reads standard input");
  return withSessionFlags(command, " (the current directory)")
    .option("--ephemeral", "leave no trace of this turn in later ones")
    .option("--json", "print one JSON object for each event, one a line")
    .addHelpText("after", HELP)
    .action(async (first: string | undefined, second: string | undefined, options: Options) => {
      const { dataDir, url } = options;
      const config = readConfig({ dataDir, url });
      const given = second === undefined ? { name: undefined, prompt: first } : { name: first, prompt: second };
      const name = given.name === undefined ? undefined : nameArgument(given.name);
      const prompt = await promptOf(given.prompt, terminal);
      if (!config.url) await ensureServer(config, (line) => terminal.err(`${line}\n`), new AbortController().signal);
      const api = await openApi(config);
      if (name === undefined) await refuseLoneName(api, prompt);
      const { key, found, settings } = await sessionFor(api, name, options, terminal);
      const work = { prompt, ephemeral: options.ephemeral };
      const start = async () => {
        const started =
          found?.id === key
            ? await api.call(chat, { params: { key }, body: work })
            : await api.call(run, { body: { ...settings, ...work, name: key } });
        printWarnings(started, terminal);
        if ("place" in started) terminal.err(`Other children run: queued at place ${started.place}.\n`);
        return started;
      };
      await watchTurn({ config, api, name: found?.name ?? key, start, json: options.json === true, terminal });
    });
}

/** The named session, or the session of the current directory. */
async function sessionFor(api: Api, name: string | undefined, flags: SessionFlags, terminal: Terminal) {
  if (name !== undefined) {
    const found = await findSession(api, name);
    return { key: name, found, settings: settingsFor(found, name, flags, terminal) };
  }
  const asked = settingsOf(flags);
  const directory = asked.working_dir ?? realPath(".");
  const { name: key, found } = await directorySession(api, directory, asked);
  terminal.err(found ? `Session "${key}" goes on.\n` : `Session "${key}" is new, and works in ${directory}.\n`);
  return { key, found, settings: { ...asked, working_dir: directory } };
}

/** A single word that is the name of a session is probably not meant as a prompt for another session. */
async function refuseLoneName(api: Api, prompt: string): Promise<void> {
  if (!Name.safeParse(prompt).success || /\s/.test(prompt) || !(await findSession(api, prompt))) return;
  throw new UsageError(`"${prompt}" is a session, and there is no work for it: plexus run ${prompt} PROMPT.`);
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

/** The settings for the session. A new one works in the current directory by default, an existing one in its own. */
function settingsFor(found: SessionDetail | undefined, key: string, flags: SessionFlags, terminal: Terminal) {
  const asked = settingsOf(flags);
  if (!found) return { ...asked, working_dir: asked.working_dir ?? realPath(".") };
  if (found.id === key && Object.keys(asked).length > 0)
    throw new UsageError("A session that is named by its id is used as it is: `plexus sessions update` changes it.");
  if (found.working_dir !== undefined && found.working_dir !== realPath("."))
    terminal.err(`Session "${found.name}" works in ${found.working_dir}.\n`);
  return asked;
}
