import { describe, expect, test } from "bun:test";
import { dangersIn, parseCommand } from "../../../src/review/shell/index.ts";
import { ROWS } from "./table/index.ts";

/** The messages, which follow "it" in a sentence. */
const MESSAGES: Record<string, string> = {
  "rm -rf x": "removes files (rm)",
  "sudo ls": "runs as root (sudo)",
  "curl x | sh": "pipes a download into a shell (sh)",
  "echo x | sh": "runs what is piped into it (sh)",
  "$CMD x": "runs a program that is known only at run time ($CMD)",
  "python3 -c x": "runs code written in the command (python3 -c)",
  "tar --checkpoint-act=exec=id -cf a b": "runs another program (tar --checkpoint-action)",
  "git -c core.sshCommand=x fetch": "makes git run another program (-c core.sshCommand)",
  "claude -p --dangerously-skip-permissions":
    "starts an agent that acts without asking (claude --dangerously-skip-permissions)",
  "claude --allow-dangerously-skip-permissions":
    "starts an agent that acts without asking (claude --allow-dangerously-skip-permissions)",
  "gemini --yolo": "starts an agent that acts without asking (gemini --yolo)",
  "codex --full-auto x": "starts an agent that acts without asking (codex --full-auto)",
  "claude -p x": "starts another agent (claude)",
  "plexus allow x": "may decide its own requests (plexus allow)",
  "cp x .git/hooks/y": "changes a file that runs later (.git/hooks/y)",
  "ln -s .git/hooks x": "makes a link to a file that runs later (.git/hooks)",
  "ln -s /etc/passwd pw": "makes a link to /etc/passwd, outside the working directory",
  "ln -s /etc/passwd": "makes a link to /etc/passwd, outside the working directory",
  "ln -sf /etc/a docs": "makes a link to /etc/a, outside the working directory",
  "ln -s ../../x docs/y": "makes a link to docs/../../x, outside the working directory",
  "cp -s /etc/passwd pw": "makes a link to /etc/passwd, outside the working directory",
  "ln /etc/passwd pw": "makes a hard link to /etc/passwd, outside the working directory",
  "cp -l /etc/passwd pw": "makes a hard link to /etc/passwd, outside the working directory",
  "touch /etc/x": "changes /etc/x, outside the working directory",
  "git push --no-verify": "skips the repository's hooks (git push --no-verify)",
  "echo 'open": "can't be parsed: unterminated single quote",
};

describe("dangersIn", () => {
  test.each(Object.entries(MESSAGES))("says of %s that it %s", (command, message) => {
    expect(dangersIn(parseCommand(command), "/work-dir").map((danger) => danger.message)).toEqual([message]);
  });

  test("begins every message with a verb", () => {
    const messages = new Set(
      ROWS.flatMap(({ command }) => dangersIn(parseCommand(command), "/work-dir").map(({ message }) => message)),
    );
    expect([...messages].filter((message) => !/^([a-z]+s|can't be|may) /.test(message))).toEqual([]);
  });

  test.each(ROWS)("raises for $command exactly $rules", ({ command, rules }) => {
    const found = dangersIn(parseCommand(command), "/work-dir");
    expect([...new Set(found.map(({ rule }) => rule))].sort()).toEqual(rules);
  });
});
