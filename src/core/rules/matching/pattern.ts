import { hasInvisibleCharacters } from "../../../contract/text/unprintable.ts";
import { EDITORS } from "../tool-kinds.ts";
import { type CommandPattern, readCommandPattern } from "./commands/command-pattern.ts";
import { type FetchPattern, readHostName } from "./fetch-pattern.ts";
import { type PathPattern, readPathPattern } from "./paths/path-pattern.ts";

/** What a rule matches, parsed once. A bare name is a wildcard: it puts no limit on the call's input. */
export type Pattern =
  | { kind: "command"; command: CommandPattern }
  | { kind: "file"; tool: string; path: PathPattern }
  | { kind: "fetch"; host: FetchPattern }
  | { kind: "tool"; name: string }
  /** A name with stars; `mcp__server` stands for `mcp__server__*`. */
  | { kind: "tools"; glob: string };

type Reading = { pattern: Pattern } | { problem: string };

const MAX_CHARS = 4_096;
const MAX_WORDS = 200;
const NAME = /^[A-Za-z*][\w.*:-]{0,511}$/;
const FILE_TOOLS: readonly string[] = ["Read", ...EDITORS];
/** The right spelling by lower case, for tools that people often misspell. */
const SPELLINGS = new Map(
  ["Bash", "WebFetch", "WebSearch", ...FILE_TOOLS].map((name): [string, string] => [name.toLowerCase(), name]),
);

/** Parses what a rule matches. The problem says in plain words what to write instead. Never throws. */
export function readMatch(match: string): Reading {
  if (match.length > MAX_CHARS) return problem(`is longer than ${MAX_CHARS} characters: match less of the call`);
  if (match.trim() === "") return problem("is empty: write a tool such as Edit, or a pattern such as Bash(npm test)");
  if (match !== match.trim()) return problem("begins or ends with a blank: leave it out");
  if (hasInvisibleCharacters(match)) return problem("has invisible characters: type it anew");
  if (/^[^()]+\([^()]*$/.test(match)) return problem("has no closing bracket: add it at the end");
  const [, name = "", text] = /^([^()]*)(?:\((.*)\))?$/s.exec(match) ?? [];
  if (!NAME.test(name))
    return problem("is not a tool's name: write one, such as Edit, or a pattern, such as Bash(npm test)");
  const usual = SPELLINGS.get(name.toLowerCase());
  if (usual !== undefined && usual !== name) return problem(`names ${name}: write ${usual}`);
  return text === undefined ? { pattern: readName(name) } : readText(name, text);
}

function readName(name: string): Pattern {
  if (name.includes("*")) return { kind: "tools", glob: name.replaceAll(/\*+/g, "*") };
  const isServer = name.startsWith("mcp__") && !name.slice("mcp__".length).includes("__");
  return isServer ? { kind: "tools", glob: `${name}__*` } : { kind: "tool", name };
}

function readText(name: string, text: string): Reading {
  if (text.trim() === "") return problem(`has nothing between its brackets: write ${name} for all of its calls`);
  if (name === "Bash") return readCommand(text);
  if (name === "WebFetch") return readHost(text);
  if (FILE_TOOLS.includes(name)) return readPath(name, text);
  if (name === "Grep" || name === "Glob") return problem(`has a path for ${name}: write Read(${cut(text)})`);
  return problem(
    `has a pattern for ${cut(name)}: only Bash, WebFetch, Read, Edit and Write have one, so write ${cut(name)}`,
  );
}

function readCommand(text: string): Reading {
  if (text === "*" || text === ":*") return { pattern: { kind: "tool", name: "Bash" } };
  const command = readCommandPattern(text);
  if (command && command.words.length > MAX_WORDS)
    return problem(`has more than ${MAX_WORDS} words: match less of the command`);
  if (command) return { pattern: { kind: "command", command } };
  const before = text.replace(/(?: |:)\*$/, "");
  if (/^[^'"]*\*/.test(before)) {
    return problem(
      "has a * that is not a word of its own at the end: write the first words, a blank and *, as in Bash(npm run *)",
    );
  }
  return problem(
    "is not one command of plain words: leave out && || ; | & > < $ ` ( ) and line breaks, and match each command by a rule of its own",
  );
}

function readHost(text: string): Reading {
  const host = readHostName(text);
  if (host) return { pattern: { kind: "fetch", host } };
  return problem(
    "does not name a host: write WebFetch(domain:docs.rs), or WebFetch(domain:*.docs.rs) for all below it",
  );
}

function readPath(tool: string, text: string): Reading {
  const path = readPathPattern(text);
  if (!path || /[$\\]/.test(text) || text !== text.trim()) {
    return problem(
      "has a path with other wildcards than * in a name and ** across directories (at most two), or with brackets, $ or blanks at its ends",
    );
  }
  if (path.names.some((name) => name === ".." || name === "."))
    return problem("has . or .. in its path: write where it leads");
  if (path.names.at(-1) === "") return problem(`ends with /: write ${cut(text)}** for all below it`);
  if (path.names.includes("")) return problem("has // inside its path: write /");
  if (path.root !== "home" && text.startsWith("~"))
    return problem("begins with ~ but not with ~/: write ~/ and the path below");
  return { pattern: { kind: "file", tool, path } };
}

function problem(text: string): Reading {
  return { problem: text };
}

/** Shortens the quoted text of a problem. */
function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The tools whose calls an allow rule could cover; empty for a glob, which names no tool. */
export function toolsOf(pattern: Pattern): string[] {
  switch (pattern.kind) {
    case "command":
      return ["Bash"];
    case "fetch":
      return ["WebFetch"];
    case "file":
      return pattern.tool === "Edit" ? [...EDITORS] : [pattern.tool];
    case "tool":
      return pattern.name === "Edit" ? [...EDITORS] : [pattern.name];
    case "tools":
      return [];
  }
}
