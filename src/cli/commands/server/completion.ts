import { Argument, type Command, Option } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { bashScript } from "../../completion/bash.ts";
import { candidatesText } from "../../completion/candidates.ts";
import { fishScript } from "../../completion/fish.ts";
import { CANDIDATES, type Candidates, type Grammar, grammarOf } from "../../completion/grammar.ts";
import { zshScript } from "../../completion/zsh.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];
const SCRIPTS: Record<Shell, (grammars: Grammar[]) => string> = { bash: bashScript, zsh: zshScript, fish: fishScript };

const HELP = `
  bash: eval "$(plexus completion bash)" in ~/.bashrc
  zsh:  eval "$(plexus completion zsh)" in ~/.zshrc, after compinit
  fish: plexus completion fish | source in ~/.config/fish/config.fish`;

type Options = Flags & { candidates?: Candidates };

export function completionCommand(terminal: Terminal): Command {
  const command = clientCommand(
    "completion",
    "print what makes a shell complete commands, flags, sessions and requests",
  );
  return command
    .addArgument(new Argument("[SHELL]", "the shell").choices(SHELLS))
    .addOption(new Option("--candidates <OF>").choices(CANDIDATES).hideHelp())
    .addHelpText("after", HELP)
    .action(async (shell: Shell | undefined, { candidates, ...flags }: Options) => {
      if (candidates) return terminal.out(await candidatesText(candidates, () => readConfig(flags)));
      if (!shell) throw new UsageError(`SHELL must be one of ${SHELLS.join(", ")}.`);
      terminal.out(SCRIPTS[shell](grammarOf(command.parent ?? command)));
    });
}
