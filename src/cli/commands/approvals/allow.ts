import type { Command } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { Answers } from "../../../contract/approvals/decision.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { jsonInput } from "../sessions/json-input.ts";
import { sendDecision } from "./decision.ts";
import { type RememberFlags, rememberIn, withRememberFlags } from "./remember-flags.ts";

type Options = Flags &
  RememberFlags & { last?: true; message?: string; input?: string; merge?: true; answers?: string; json?: true };

export function allowCommand(terminal: Terminal): Command {
  const command = clientCommand("allow", "allow a pending request, once")
    .argument("[ID]", "the request's id, as `plexus pending` shows it: its last four characters are enough")
    .option("--last", "the newest request instead; not one that is dangerous")
    .option("-m, --message <NOTE>", "a note for the record")
    .option("--input <JSON>", "run the tool with this input instead, a whole JSON object; - reads standard input")
    .option("--merge", "with --input: change only what it has; null takes a key out")
    .option("--answers <JSON>", 'answer the agent\'s questions: {"question": "label of an option"}');
  return withRememberFlags(command)
    .option("--json", "print JSON")
    .action(async (id: string | undefined, options: Options) => {
      const { dataDir, url, message, input, merge, answers: given, json = false } = options;
      const config = readConfig({ dataDir, url });
      if (merge && input === undefined) throw new UsageError("--merge goes with --input.");
      const updated_input = input === undefined ? undefined : await jsonInput("--input", input, terminal);
      const answers = given === undefined ? undefined : labelsIn(await jsonInput("--answers", given, terminal));
      const decision = { approve: true, message, updated_input, merge, answers, remember: rememberIn(options) };
      await sendDecision(config, { which: { id, last: options.last }, decision, json }, terminal);
    });
}

function labelsIn(given: JsonObject): Answers {
  const { data, error } = Answers.safeParse(given);
  if (data) return data;
  throw new UsageError(`--answers ${error.issues[0]?.message}.`);
}
