/** Programs that install packages; all but pip also run the scripts of a project. */
const INSTALLERS = setOf("npm pnpm yarn pip");
const INSTALLS = setOf("install i add update up download wheel");
/** Matches words that name a package by file, directory or repository. */
const PLACE = /^\.|^[^@-].*\/|^@[^/]*\/.*\/|:|\.(?:tgz|tar|tar\.\w+|zip|whl)$/;
/** The project itself. pip may install it, because `npm install` runs the project's code as well. */
const OWN_PROJECT = /^\.(?:\[[\w,-]+\])?$/;
/** pip's `-e`: the next word, or the rest of the same word, is always a directory. */
const EDITABLE = /^-[A-Za-z]*e$/;
const EDITABLE_PLACE = /^-[A-Za-z]*e./;
/** Verbs that pass the words after them to a script. */
const SCRIPT_VERBS = /^(?:run|run-script|test|t|start|stop|restart)$/;
/** Options before the verb that take the next word as their value. */
const VALUED = setOf("-F --filter --filter-prod -w --workspace --loglevel -C --dir --prefix --cwd");

export function isPackageManager(family: string): boolean {
  return INSTALLERS.has(family);
}

/** Whether the command installs a package by its place, and so runs the code there. */
export function namesPackagePlace(family: string, given: readonly string[]): boolean {
  const verb = given.findIndex((word) => INSTALLS.has(word));
  const isScript = given.slice(1, verb).some((word) => SCRIPT_VERBS.test(word));
  if (verb < 0 || isScript) return false;
  return given.slice(verb + 1).some((word, at, words) => {
    if (family !== "pip") return PLACE.test(word);
    const isEditable = EDITABLE.test(words[at - 1] ?? "");
    return EDITABLE_PLACE.test(word) || ((isEditable || PLACE.test(word)) && !OWN_PROJECT.test(word));
  });
}

/** Whether the word goes to a script, which may read `@name` as a file with arguments. */
export function takesArgumentFile(family: string, given: readonly string[], at: number): boolean {
  const script = verbsIn(given).possible.find((place) => SCRIPT_VERBS.test(given[place] ?? ""));
  if (script === undefined || at <= script) return false;
  // All but npm pass their own options on too.
  const isOwnValue = family === "npm" && VALUED.has(given[at - 1] ?? "") && !given.slice(0, at).includes("--");
  return !isOwnValue;
}

/** The position of the verb, after options and the name of a workspace, and the other positions where it could be. */
export function verbsIn(given: readonly string[]): { meant: number; possible: number[] } {
  const possible: number[] = [];
  let meant = -1;
  for (let at = 1; at < given.length; at++) {
    const [before = "", word = ""] = [given[at - 1], given[at]];
    if (word.startsWith("-")) continue;
    possible.push(at);
    if (/^workspaces?$|^foreach$/.test(word) || before === "workspace" || VALUED.has(before)) continue;
    if (meant < 0) meant = at;
    // An unknown option may have a value too.
    if (!before.startsWith("-")) break;
  }
  return { meant, possible };
}

/**
 * The position of a name that yarn or pnpm may look up in `node_modules/.bin`, which they do if no script has that
 * name; -1 if there is none.
 */
export function binaryIn(family: string, given: readonly string[], verbs: ReadonlySet<string>): number {
  const { meant } = verbsIn(given);
  if (meant < 0 || (family !== "yarn" && family !== "pnpm")) return -1;
  if (!verbs.has(given[meant] ?? "")) return meant;
  return family === "yarn" && given[meant] === "run" && meant + 1 < given.length ? meant + 1 : -1;
}

/** Whether the next word would name such a program. A wildcard after these words covers nothing. */
export function endsBeforeBinary(family: string, words: readonly string[]): boolean {
  return family === "yarn" && words.at(-1) === "run" && verbsIn(words).meant === words.length - 1;
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}
