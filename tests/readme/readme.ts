import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");
export const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** The shell commands under a heading, one text per block; without a title, those before the first heading. */
export function blocksUnder(title?: string): string[] {
  const blocks = [...sectionOf(title).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = ""]) => text.trim());
  if (blocks.length === 0) throw new Error(`README.md has no commands under "${title ?? "the top"}"`);
  return blocks;
}

/** The first JSON under a heading. */
export function jsonUnder(title: string): unknown {
  const text = /^```json\n(.*?)^```$/ms.exec(sectionOf(title))?.[1];
  if (text === undefined) throw new Error(`README.md has no JSON under "${title}"`);
  return JSON.parse(text);
}

/** The rows of the first table with these columns under a heading, without code marks. */
export function tableUnder(title: string, ...columns: string[]): string[][] {
  const tables = sectionOf(title).matchAll(/(?:^\|.*\|$\n?)+/gm);
  const found = [...tables]
    .map(([text]) => text.trim().split("\n").map(cellsOf))
    .find(([head]) => head?.join() === columns.join());
  if (found === undefined) throw new Error(`README.md has no table of ${columns.join(", ")} under "${title}"`);
  return found.slice(2);
}

function sectionOf(title: string | undefined): string {
  const sections = README.split(/^(?=#{2,3} )/m);
  const found =
    title === undefined ? sections[0] : sections.find((section) => new RegExp(`^#+ ${title}\n`).test(section));
  if (found === undefined) throw new Error(`README.md has no section "${title}"`);
  return found;
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
}
