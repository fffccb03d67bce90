import { isFile, isTree, type Scene } from "../scene.ts";
import { isBoundedFormat } from "./arguments.ts";

const NUMBER = /^\d{1,6}$/;
const SIGNED = /^[-+]?\d{1,9}$/;
const ANY = /^/;
const NAME = /^[\w.-]+$/;

/** What `find` only compares, by how many words: the rest can run, write or follow. */
const TESTS = new Map<string, RegExp>([
  ["-name", ANY],
  ["-iname", ANY],
  ["-path", ANY],
  ["-ipath", ANY],
  ["-wholename", ANY],
  ["-regex", ANY],
  ["-iregex", ANY],
  ["-type", /^[bcdpfls](?:,[bcdpfls])*$/],
  ["-maxdepth", NUMBER],
  ["-mindepth", NUMBER],
  ["-size", /^[-+]?\d{1,12}[bcwkMG]?$/],
  ["-mtime", SIGNED],
  ["-mmin", SIGNED],
  ["-atime", SIGNED],
  ["-amin", SIGNED],
  ["-ctime", SIGNED],
  ["-cmin", SIGNED],
  ["-links", SIGNED],
  ["-perm", /^[-/]?[0-7]{1,4}$/],
  ["-user", NAME],
  ["-group", NAME],
]);
const ALONE = new Set(
  "-print -print0 -ls -prune -quit -empty -true -false -xdev -mount -not -o -or -a -and ! ( )".split(" "),
);

/** Whether `find` with these words only looks, below places that may be read. Links in there are not followed. */
export function isFindExpression(words: readonly string[], scene: Scene): boolean {
  const start = words.findIndex((word) => word.startsWith("-") || word === "!" || word === "(");
  const places = start < 0 ? words : words.slice(0, start);
  if (!(places.length > 0 ? places : ["."]).every((word) => isTree(word, scene))) return false;
  const expression = start < 0 ? [] : words.slice(start);
  for (let at = 0; at < expression.length; at++) {
    const word = expression[at] ?? "";
    if (ALONE.has(word)) continue;
    const value = expression[++at];
    if (value === undefined) return false;
    if (!isComparison(word, value, scene)) return false;
  }
  return true;
}

function isComparison(test: string, value: string, scene: Scene): boolean {
  if (test === "-newer") return isFile(value, scene);
  // `%Y` tells what a link leads to.
  if (test === "-printf") return isBoundedFormat(value) && !/%[^%A-Za-z]*Y/.test(value);
  return TESTS.get(test)?.test(value) ?? false;
}
