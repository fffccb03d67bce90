import type { Command } from "commander";
import { z } from "zod";
import { type Flags, readConfig } from "../../../config.ts";
import { findServer } from "../../server/server-client.ts";
import { followSession } from "../../server/session-stream.ts";
import { clientCommand } from "../../server/settings.ts";
import { createScreen } from "../../terminal/screen.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { printer } from "../../terminal/turn-watch.ts";
import { nameArgument } from "./name-argument.ts";

const Found = z.object({ config: z.object({ id: z.string(), name: z.string(), status: z.string() }) });

type Options = Flags & { follow?: true; turn?: string; json?: true };

export function logsCommand(terminal: Terminal): Command {
  return clientCommand("logs", "show what happened in a session's newest turn")
    .argument("<NAME>", "the session's name or id")
    .option("-f, --follow", "stay, and show what happens, over all turns to come")
    .option("--turn <ID>", "show this turn instead; with -f, it and all later ones")
    .option("--json", "print one JSON object for each event, one a line")
    .action(async (name: string, options: Options) => {
      const config = readConfig(options);
      const find = () => findServer(config);
      const path = `/api/v1/sessions/${encodeURIComponent(nameArgument(name))}`;
      const { config: session } = await find().request(Found, "GET", path);
      if (session.status === "queued" && options.turn === undefined)
        terminal.err(`Session "${session.name}" has a turn that is queued.\n`);
      const isLive = options.follow === true;
      const screen = createScreen(terminal);
      const print = printer(options.json === true, screen, terminal);
      const leave = new AbortController();
      // A reader that has gone, as in `plexus logs NAME -f | head -1`, has seen enough.
      process.stdout.once("error", () => leave.abort());
      const onLost = () => screen.note("The server is gone. Waiting for it to come back.");
      const { turn: turnId } = options;
      let shown: string | undefined;
      const { signal } = leave;
      for await (const told of followSession({ find, session: session.id, turnId, isLive, signal, onLost })) {
        if (!isLive && shown !== undefined && shown !== told.turn_id) break;
        shown = told.turn_id;
        print(told);
      }
      if (shown === undefined && !isLive && session.status === "idle")
        terminal.err(`Session "${session.name}" has had no turn yet.\n`);
    });
}
