import { join } from "node:path";
import { toolParts } from "./tools.ts";

const root = join(import.meta.dir, "../..");

/** A part of a page that is written from the code; the page has a place for it, by its name. */
export type GeneratedPart = { page: string; name: string; text: string };

/** One for each kind of declaration that the docs describe. */
const GENERATORS: (() => GeneratedPart[])[] = [toolParts];

/** The text between `<!-- generated: NAME -->` and `<!-- /generated -->`. */
const PLACE = /(<!-- generated: (.+?) -->\n)(.*?)(<!-- \/generated -->)/gs;

export type GeneratedPage = { page: string; path: string; before: string; after: string; problems: string[] };

/** Every page that has generated parts, as it is and as the code would write it. */
export async function generatedPages(): Promise<GeneratedPage[]> {
  const parts = GENERATORS.flatMap((generate) => generate());
  const pages = [...new Set(parts.map(({ page }) => page))];
  return Promise.all(
    pages.map(async (page) => {
      const path = join(root, page);
      const before = await Bun.file(path).text();
      const own = parts.filter((part) => part.page === page);
      return { page, path, before, ...filled(before, own) };
    }),
  );
}

/** The text with each part in its place; a problem is a part without a place, or a place that nothing fills. */
export function filled(text: string, parts: Omit<GeneratedPart, "page">[]): { after: string; problems: string[] } {
  const left = new Map(parts.map((part) => [part.name, part.text]));
  const problems: string[] = [];
  const after = text.replace(PLACE, (place, begin: string, name: string, _, end: string) => {
    const part = left.get(name);
    left.delete(name);
    if (part !== undefined) return `${begin}\n${part.trim()}\n\n${end}`;
    problems.push(`nothing, or nothing more, is generated as "${name}"`);
    return place;
  });
  for (const name of left.keys()) problems.push(`there is no <!-- generated: ${name} --> … <!-- /generated -->`);
  return { after, problems };
}
