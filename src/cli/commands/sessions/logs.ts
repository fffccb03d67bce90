import { type Command, Option } from "commander";
import type { Api } from "../../../client/api.ts";
import { isShortId } from "../../../client/words/short-id.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { getSession } from "../../../contract/routes/sessions.ts";
import { listTurns } from "../../../contract/routes/turns.ts";
import { openApi } from "../../server/server-client.ts";
import { followSession } from "../../server/session-stream.ts";
import { clientCommand } from "../../server/settings.ts";
import { createEventPrinter } from "../../terminal/event-printer.ts";
import { createScreen } from "../../terminal/screen.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";
import { listFound } from "./found-list.ts";
import { nameArgument } from "./name-argument.ts";
import { wholeNumber } from "./session-flags.ts";
import { sessionKey } from "./session-key.ts";

const PAGE = 1_000;
const DEFAULT_LIMIT = 50;

type Options = Flags & { follow?: true; turn?: string; search?: string; limit: number; json?: true };

export function logsCommand(terminal: Terminal): Command {
  return clientCommand("logs", "show what happened in a session's newest turn")
    .argument("<NAME>", "the session's name or id")
    .option("-f, --follow", "stay, and show what happens, over all turns to come")
    .option("--turn <ID>", "show this turn instead; with -f, it and all later ones")
    .addOption(
      new Option("--search <TEXT>", "list where this text stands in all its turns, newest first").conflicts([
        "follow",
        "turn",
      ]),
    )
    .option("--limit <N>", "with --search, how many at the most", wholeNumber, DEFAULT_LIMIT)
    .option("--json", "print one JSON object for each event, one a line")
    .action(async (name: string, options: Options) => {
      const config = readConfig(options);
      const api = await openApi(config);
      const key = await sessionKey(api, nameArgument(name));
      const { search, limit } = options;
      if (search !== undefined) return listFound(api, { key, search, limit, json: options.json === true }, terminal);
      const { config: session } = await api.call(getSession, { params: { key } });
      if (session.status === "queued" && options.turn === undefined)
        terminal.err(`Session "${session.name}" has a turn that is queued.\n`);
      const isLive = options.follow === true;
      const screen = createScreen(terminal);
      const print = createEventPrinter(options.json === true, screen, terminal);
      const leave = new AbortController();
      // The reader has closed the pipe, as in `plexus logs NAME -f | head -1`.
      process.stdout.once("error", () => leave.abort());
      const onLost = () => screen.note("No connection to the server. Waiting for it to come back.");
      const turnId = await turnOf(api, session.id, options.turn);
      let shown: string | undefined;
      const { signal } = leave;
      for await (const told of followSession({ api, session: session.id, turnId, isLive, signal, onLost })) {
        if (!isLive && shown !== undefined && shown !== told.turn_id) break;
        shown = told.turn_id;
        print(told);
      }
      if (shown === undefined && !isLive && session.status === "idle")
        terminal.err(`Session "${session.name}" has had no turn yet.\n`);
    });
}

/** The turn that the argument names by its id, or by the end of it. */
async function turnOf(api: Api, key: string, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || !isShortId(given)) return given;
  const { allItems } = await import("../../../client/paging.ts");
  const turns = await allItems(PAGE, async (at) => {
    const page = await api.call(listTurns, { params: { key }, query: at });
    return { items: page.turns, cursor: page.cursor };
  });
  const found = turns.filter(({ turn_id }) => turn_id.endsWith(given));
  if (found.length <= 1) return found[0]?.turn_id ?? given;
  throw new CommandFailed(`${found.length} turns have an id that ends with ${given}: give more of it.`);
}
