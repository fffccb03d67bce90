import { type Found, follow } from "../../../../files/real-path.ts";
import { startIn } from "../../../../review/shell/index.ts";
import type { WithheldFiles } from "../../withheld-files.ts";
import { firstOf } from "../first-order.ts";
import type { Place } from "../judged-call.ts";
import { mayLieBelow } from "./look-below.ts";
import type { PathPattern } from "./path-pattern.ts";
import { type PathTree, pathTree } from "./path-tree.ts";

type Sought = { order: number; path: PathPattern };
/** The directories where patterns start, both as written and with links resolved. */
type Starts = { home: string[][]; working: string[][] };

/** An index of path patterns by their first names. */
export type PathFinder = ReturnType<typeof pathFinder>;

/** Finds the patterns that match a path by its text. A pattern without a slash matches in any directory. */
export function pathFinder(all: readonly Sought[]) {
  const trees = { absolute: pathTree(), home: pathTree(), working: pathTree() };
  for (const { order, path } of all) {
    trees[path.root === "below" ? "absolute" : path.root].add(order, path.names.map(folded));
  }

  /** The search in one place. The place's directories are looked up once. */
  const at = (place: Pick<Place, "workingDir" | "home">) => {
    const starts = startsIn(place);
    /**
     * `inside`: the trees whose start contains the path, with the rest of the path. `below`: the trees that start below
     * it.
     */
    const around = (path: string) => {
      const names = namesOf(path);
      const inside = [{ tree: trees.absolute, rest: names }];
      const below: PathTree[] = [];
      for (const root of ["home", "working"] as const) {
        if (trees[root].first() === undefined) continue;
        for (const start of starts[root]) {
          if (isBelow(start, names)) inside.push({ tree: trees[root], rest: names.slice(start.length) });
          else if (isBelow(names, start)) below.push(trees[root]);
        }
      }
      return { inside, below };
    };
    /** The first pattern that matches an absolute path or a directory above it. */
    const find = (path: string) => firstOf(around(path).inside.map(({ tree, rest }) => tree.find(rest)));
    const looked = new Map<string, boolean>();
    const lies = (path: string): boolean => {
      const known = looked.get(path) ?? mayLieBelow(path, (one) => find(one) !== undefined);
      looked.set(path, known);
      return known;
    };
    return {
      find,
      /** The first pattern that starts at or below the directory. */
      findBelow(path: string): number | undefined {
        const { inside, below } = around(path);
        return firstOf([...inside.map(({ tree, rest }) => tree.findBelow(rest)), ...below.map((tree) => tree.first())]);
      },
      /** Whether a pattern starts below an existing directory, or matches a file that exists there now. */
      holds(path: string): boolean {
        const { inside, below } = around(path);
        const reaches = inside.map(({ tree, rest }) => tree.reaches(rest));
        if (below.length > 0 || reaches.includes("all")) return true;
        return reaches.includes("some") && (find(path) !== undefined || lies(path));
      },
      /** Whether a pattern could match something at or below the path, whether or not it exists. */
      mayHold(path: string): boolean {
        const { inside, below } = around(path);
        return below.length > 0 || inside.some(({ tree, rest }) => tree.reaches(rest) !== "none");
      },
    };
  };

  return { isEmpty: all.length === 0, at };
}

/** The files that the patterns match, as private files. */
export function withheldFiles(finder: PathFinder, place: Place): WithheldFiles {
  const here = finder.at(place);
  return {
    isPrivate: ({ real }: Found) => here.find(real) !== undefined,
    // A missing directory holds nothing. Any word could look like the path of one.
    holdsPrivate: ({ real, kind }: Found) => kind === "directory" && here.holds(real),
    mayHold: here.mayHold,
  };
}

function startsIn({ workingDir, home }: Pick<Place, "workingDir" | "home">): Starts {
  return { home: bothOf(home), working: bothOf(startIn(workingDir ?? null).at) };
}

function bothOf(path: string): string[][] {
  const real = follow(path)?.real;
  return real === undefined || real === path ? [namesOf(path)] : [namesOf(path), namesOf(real)];
}

/** A path as the finder compares it: `..` resolved by text, and in lower case. */
export function foldedPath(path: string): string {
  return `/${namesOf(path).join("/")}`;
}

/** The names along a path, with `..` resolved by text. */
function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(folded(name));
  }
  return names;
}

function isBelow(start: readonly string[], names: readonly string[]): boolean {
  return start.length <= names.length && start.every((name, at) => name === names[at]);
}

function folded(name: string): string {
  return name.toLowerCase();
}
