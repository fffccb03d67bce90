import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "../../support/server/program.ts";
import { until } from "../../support/until.ts";

const PROMPT = "READY> ";
/** How to start each shell without personal settings, and the line that a user would add to theirs. */
const SHELLS = {
  bash: {
    command: ["bash", "--noprofile", "--norc", "-i"],
    setUp: `PS1='${PROMPT}'; eval "$(plexus completion bash)"`,
  },
  zsh: {
    command: ["zsh", "-f", "-i"],
    setUp: `autoload -Uz compinit; compinit -D; setopt no_list_ambiguous; eval "$(plexus completion zsh)"; PS1='${PROMPT}'`,
  },
  fish: {
    command: ["fish", "--no-config", "-i"],
    setUp: `function fish_prompt; echo -n '${PROMPT}'; end; plexus completion fish | source`,
  },
} as const;
export type ShellName = keyof typeof SHELLS;

export type ShellSession = AsyncDisposable & {
  /** Types this text and the tab key, and waits until the completed line contains `shown`. */
  completes(typed: string, shown: string): Promise<void>;
};

/** A real shell on a terminal, with the completion of plexus. */
export async function openShell(name: ShellName, scratch: string): Promise<ShellSession> {
  const program = join(scratch, "plexus");
  writeFileSync(program, `#!/bin/sh\nexec ${PROGRAM.join(" ")} "$@"\n`);
  chmodSync(program, 0o755);
  let text = "";
  const decoder = new TextDecoder();
  const { command, setUp } = SHELLS[name];
  const shell = Bun.spawn([...command], {
    cwd: scratch,
    env: { PATH: `${scratch}:${process.env["PATH"]}`, HOME: scratch, TERM: "xterm" },
    terminal: {
      cols: 150,
      rows: 50,
      data: (_, chunk) => {
        text += decoder.decode(chunk, { stream: true });
      },
    },
  });
  const type = (keys: string) => void shell.terminal?.write(keys);
  const sees = async (what: string, from: number) => {
    const seen = await until(`${name} to show ${what}`, () => plain(text.slice(from)).includes(what)).catch(
      () => false,
    );
    if (!seen) throw new Error(`${name} never showed "${what}", but:\n${plain(text.slice(from))}`);
  };
  type(`${setUp}\r`);
  // The typed line itself contains the prompt once.
  await until(`${name} to be ready`, () => plain(text).split(PROMPT).length > 2);
  return {
    async completes(typed, shown) {
      const from = text.length;
      type(`${typed}\t`);
      await sees(shown, from);
      // The shell runs this only after it has handled the last key, so all output of that key comes before.
      const mark = crypto.randomUUID();
      type(`\u0015echo ${mark}\r`);
      await until(`${name} to be done`, () => new RegExp(`[\r\n]${mark}`).test(plain(text)));
    },
    async [Symbol.asyncDispose]() {
      shell.kill("SIGKILL");
      await shell.exited;
      shell.terminal?.close();
    },
  };
}

/** The text without colors and cursor movements. */
function plain(text: string): string {
  return Bun.stripANSI(text).replaceAll("\b", "");
}
