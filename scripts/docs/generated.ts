import { join } from "node:path";
import { ROOT } from "../run.ts";
import { CLIENT_PARTS } from "./clients.ts";
import { programList } from "./programs.ts";
import { restTable } from "./rest.ts";
import { TOOL_PARTS } from "./tools.ts";

export type Generators = Record<string, () => string | Promise<string>>;
type Page = { path: string; text: string };

/** The text between `<!-- generated: NAME -->` and `<!-- /generated -->` in the README and docs/. */
const GENERATORS: Generators = { ...TOOL_PARTS, ...CLIENT_PARTS, rest: restTable, programs: programList };
const PARTS = /(<!-- generated: ([\w-]+) -->\n).*?(?=<!-- \/generated -->)/gs;

if (import.meta.main) {
  try {
    for (const { path, text } of await staleDocs()) {
      await Bun.write(join(ROOT, path), text);
      console.log(`${path} is written`);
    }
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : String(cause));
    process.exitCode = 1;
  }
}

/** Returns the files whose generated parts are outdated, with their correct text. */
export async function staleDocs(): Promise<Page[]> {
  const paths = ["*.md", "docs/*.md"].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort());
  const pages = await Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })));
  return withGenerated(pages, GENERATORS);
}

/** Generates every part and returns the changed pages; each part needs markers in a page. */
export async function withGenerated(pages: Page[], generators: Generators): Promise<Page[]> {
  const names = new Set(pages.flatMap(({ text }) => [...text.matchAll(PARTS)].map(([, , name = ""]) => name)));
  const unplaced = Object.keys(generators).filter((name) => !names.has(name));
  if (unplaced.length > 0)
    throw new Error(`No page has <!-- generated: NAME --> for ${unplaced.join(", ")}: add the markers.`);
  const parts = new Map<string, string>();
  for (const name of names) {
    const generate = generators[name];
    if (!generate) throw new Error(`Nothing generates "${name}": there are ${Object.keys(generators).join(", ")}.`);
    parts.set(name, (await generate()).trimEnd());
  }
  const written = pages.map(({ path, text }) => ({
    path,
    text: text.replaceAll(PARTS, (_, opening, name) => `${opening}${parts.get(name)}\n`),
  }));
  return written.filter(({ text }, index) => text !== pages[index]?.text);
}
