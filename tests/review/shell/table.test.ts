import { describe, expect, test } from "bun:test";
import { dangersIn, readCommand } from "../../../src/review/shell/index.ts";
import { ROWS } from "./table/index.ts";

/** What a person reads after the word "it". */
const MESSAGES: Record<string, string> = {
  "rm -rf x": "removes files (rm)",
  "sudo ls": "runs as root (sudo)",
  "curl x | sh": "pipes a download into a shell (sh)",
  "echo x | sh": "runs what is piped into it (sh)",
  "$CMD x": "runs a program that is not known before ($CMD)",
  "python3 -c x": "runs code written in the command (python3 -c)",
  "tar --checkpoint-act=exec=id -cf a b": "starts another program (tar --checkpoint-action)",
  "git -c core.sshCommand=x fetch": "has git start another program (-c core.sshCommand)",
  "claude -p --dangerously-skip-permissions":
    "starts an agent that asks nobody (claude --dangerously-skip-permissions)",
  "claude --allow-dangerously-skip-permissions":
    "starts an agent that asks nobody (claude --allow-dangerously-skip-permissions)",
  "gemini --yolo": "starts an agent that asks nobody (gemini --yolo)",
  "codex --full-auto x": "starts an agent that asks nobody (codex --full-auto)",
  "claude -p x": "starts another agent (claude)",
  "plexus allow x": "may decide its own requests (plexus allow)",
  "cp x .git/hooks/y": "changes what runs later on (.git/hooks/y)",
  "touch /etc/x": "changes /etc/x, outside of the working directory",
  "git push --no-verify": "skips the checks of this repository (git push --no-verify)",
  "echo 'open": "can't be taken apart: unterminated single quote",
};

describe("dangersIn", () => {
  test.each(Object.entries(MESSAGES))("says of %s that it %s", (command, message) => {
    expect(dangersIn(readCommand(command), "/work-dir").map((danger) => danger.message)).toEqual([message]);
  });

  test("begins every message with a verb", () => {
    const messages = new Set(
      ROWS.flatMap(({ command }) => dangersIn(readCommand(command), "/work-dir").map(({ message }) => message)),
    );
    expect([...messages].filter((message) => !/^([a-z]+s|can't be|may) /.test(message))).toEqual([]);
  });

  test.each(ROWS)("raises for $command exactly $rules", ({ command, rules }) => {
    const found = dangersIn(readCommand(command), "/work-dir");
    expect([...new Set(found.map(({ rule }) => rule))].sort()).toEqual(rules);
  });
});
