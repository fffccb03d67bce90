import { UNPRINTABLE } from "../schema/unprintable.ts";
import { changedPaths } from "./changed-paths.ts";
import { after, isBelowHome, locate, pathIn, startIn } from "./paths.ts";
import type { Reading, SimpleCommand } from "./reading.ts";
import { RULES } from "./rules.ts";
import { unwrapped } from "./wrappers.ts";

/** Why a command wants a second look, in words that go on after "it". */
export type Danger = { rule: string; message: string };

/**
 * What in a command is dangerous. It errs on the side of danger: what can't be told before it runs counts too.
 * It is a help for people who look, not a wall: a program may do anything, whatever it is called.
 */
export function dangersIn(reading: Reading, workingDir: string | null): Danger[] {
  const found: Danger[] = reading.problems.map((problem) => ({ rule: "unreadable", message: problem }));
  if (reading.source.replaceAll("\t", "").search(UNPRINTABLE) >= 0) {
    found.push({ rule: "hidden", message: "has characters that do not show" });
  }
  let directory = startIn(workingDir);
  for (const outer of reading.commands) {
    const { commands, problems } = unwrapped(outer);
    found.push(...problems.map((message) => ({ rule: "unreadable", message })));
    for (const command of commands) {
      found.push(...RULES.flatMap(({ rule, test }) => messagesOf(test(command)).map((message) => ({ rule, message }))));
      for (const path of changedPaths(command)) {
        if (path.isDynamic && !isBelowHome(path.value)) continue;
        const where = locate(pathIn(path) ?? path.value, directory);
        if (where === "outside")
          found.push({ rule: "outside", message: `changes ${path.value}, outside of the working directory` });
      }
    }
    directory = after(outer, directory);
  }
  return [...new Map(found.map((danger) => [danger.message, danger])).values()];
}

/** The words of a command that name places outside of the working directory, for marking them. */
export function outsideWords(reading: Reading, workingDir: string | null): { pos: number; end: number }[] {
  let directory = startIn(workingDir);
  return reading.commands.flatMap((command) => {
    const here = directory;
    directory = after(command, directory);
    return pathWords(command).filter((word) => ["outside", "temporary"].includes(locate(pathIn(word) ?? "", here)));
  });
}

function pathWords({ words, redirects }: SimpleCommand) {
  const targets = redirects.flatMap(({ target }) => target ?? []);
  return [...words, ...targets].filter((word) => pathIn(word) !== undefined);
}

function messagesOf(result: string | string[] | undefined): string[] {
  if (result === undefined) return [];
  return typeof result === "string" ? [result] : result;
}
