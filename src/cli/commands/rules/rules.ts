import { Command } from "commander";
import type { Terminal } from "../../terminal/terminal.ts";
import { addCommand } from "./add.ts";
import { listCommand } from "./list.ts";
import { removeCommand } from "./remove.ts";
import { suggestCommand } from "./suggest.ts";
import { testCommand } from "./test.ts";
import { updateCommand } from "./update.ts";

const HELP = `
A rule decides every call that its MATCH covers. The strictest one wins: deny, then ask, then allow.
MATCH is spelled as Claude Code's permission rules are: "Bash(npm run *)", "Edit(./src/**)",
"WebFetch(domain:docs.rs)", "mcp__github__get_*". An allow covers only what is proven to be no more than that.`;

export function rulesCommand(terminal: Terminal): Command {
  return new Command("rules")
    .description("decide once what is asked again and again")
    .addCommand(listCommand(terminal))
    .addCommand(addCommand(terminal))
    .addCommand(updateCommand(terminal))
    .addCommand(removeCommand(terminal))
    .addCommand(testCommand(terminal))
    .addCommand(suggestCommand(terminal))
    .addHelpText("after", HELP);
}
