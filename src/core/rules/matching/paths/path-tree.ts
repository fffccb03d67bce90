import { firstOf } from "../first-order.ts";
import { matchesText } from "./path-pattern.ts";

/** A trie of the patterns below one directory, by their leading names. */
type Node = {
  children: Map<string, Node>;
  /** The first rule whose pattern leads to this node or below it. */
  first: number | undefined;
  /** The first rule whose pattern ends at this node. */
  end: number | undefined;
  /** The rest of each pattern whose next name has a wildcard. */
  wild: { order: number; rest: readonly string[] }[];
  /** The rest of each pattern that continues with `**` and a plain name, by that name. */
  deep: Map<string, { order: number; rest: readonly string[] }[]>;
};

export type PathTree = ReturnType<typeof pathTree>;

/** Whether patterns match something at or below a directory: certainly, depending on the names there, or never. */
export type Reach = "all" | "some" | "none";

/** Deeper paths are ignored: no program can open them. */
const MAX_DEPTH = 2_100;

/** Finds which of many patterns a path matches. Names are in lower case because some file systems ignore case. */
export function pathTree() {
  const root = emptyNode();
  return {
    first: () => root.first,
    add(order: number, names: readonly string[]): void {
      let node = root;
      node.first = firstOf([node.first, order]);
      for (let at = 0; at < names.length; at++) {
        const name = names[at] ?? "";
        if (/[*?]/.test(name)) {
          addWild(node, order, names.slice(at));
          return;
        }
        const child = node.children.get(name) ?? emptyNode();
        node.children.set(name, child);
        node = child;
        node.first = firstOf([node.first, order]);
      }
      node.end = firstOf([node.end, order]);
    },
    /** The first pattern that matches the path or a directory above it. */
    find(path: readonly string[]): number | undefined {
      let found: number | undefined;
      let node: Node | undefined = root;
      for (let at = 0; node && at <= Math.min(path.length, MAX_DEPTH); at++) {
        found = firstOf([found, node.end, findWild(node, path, at)]);
        node = node.children.get(path[at] ?? "");
      }
      return found;
    },
    reaches(directory: readonly string[]): Reach {
      let node: Node | undefined = root;
      let mayReach = false;
      for (const name of directory) {
        if (node.end !== undefined) return "all";
        mayReach ||= isWild(node);
        node = node.children.get(name);
        if (!node) return mayReach ? "some" : "none";
      }
      if (node.end !== undefined || [...node.children.values()].some(({ first }) => first !== undefined)) return "all";
      return mayReach || isWild(node) ? "some" : "none";
    },
    /** The first pattern whose plain names lead to the directory or below it. */
    findBelow(directory: readonly string[]): number | undefined {
      let node: Node | undefined = root;
      for (const name of directory) node = node?.children.get(name);
      return node?.first;
    },
  };
}

function addWild(node: Node, order: number, rest: readonly string[]): void {
  const [first, second = "*"] = rest;
  if (first !== "**" || /[*?]/.test(second)) {
    node.wild.push({ order, rest });
    return;
  }
  const same = node.deep.get(second);
  const one = { order, rest: rest.slice(2) };
  if (same) same.push(one);
  else node.deep.set(second, [one]);
}

function findWild({ wild, deep }: Node, path: readonly string[], from: number): number | undefined {
  let found: number | undefined;
  for (const { order, rest } of wild) {
    if ((found === undefined || order < found) && matchesFront(rest, 0, path, from)) found = order;
  }
  if (deep.size === 0) return found;
  for (let at = from; at < path.length; at++) {
    for (const { order, rest } of deep.get(path[at] ?? "") ?? []) {
      if ((found === undefined || order < found) && matchesFront(rest, 0, path, at + 1)) found = order;
    }
  }
  return found;
}

/** Whether the names match the front of the path. A `**` at the end also matches the directory itself. */
function matchesFront(names: readonly string[], name: number, path: readonly string[], from: number): boolean {
  const next = names[name];
  if (next === undefined) return true;
  if (next === "**") {
    if (name === names.length - 1) return true;
    for (let at = from; at < path.length; at++) if (matchesFront(names, name + 1, path, at)) return true;
    return false;
  }
  const given = path[from];
  return given !== undefined && matchesText(next, given) && matchesFront(names, name + 1, path, from + 1);
}

function isWild({ wild, deep }: Node): boolean {
  return wild.length > 0 || deep.size > 0;
}

function emptyNode(): Node {
  return { children: new Map(), first: undefined, end: undefined, wild: [], deep: new Map() };
}
