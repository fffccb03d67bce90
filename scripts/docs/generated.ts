import { join } from "node:path";
import { ROOT } from "../run.ts";
import { restTable } from "./rest.ts";

type Generators = Record<string, () => Promise<string>>;

/** What stands between `<!-- generated: NAME -->` and `<!-- /generated -->` in the README and in docs/. */
const GENERATORS: Generators = { rest: restTable };
const PARTS = /(<!-- generated: ([\w-]+) -->\n).*?(?=<!-- \/generated -->)/gs;

if (import.meta.main) {
  for (const { path, text } of await staleDocs()) {
    await Bun.write(join(ROOT, path), text);
    console.log(`${path} is written`);
  }
}

/** The files whose generated parts are not what the code says, with the text that they should have. */
export async function staleDocs(): Promise<{ path: string; text: string }[]> {
  const docs = await Promise.all(
    pages().map(async (path) => ({ path, before: await Bun.file(join(ROOT, path)).text() })),
  );
  const generated = await Promise.all(
    docs.map(async ({ path, before }) => ({ path, before, text: await withGenerated(before, GENERATORS) })),
  );
  return generated.filter(({ before, text }) => text !== before).map(({ path, text }) => ({ path, text }));
}

function pages(): string[] {
  return ["*.md", "docs/*.md"].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)].sort());
}

/** The text with every generated part made anew. */
export async function withGenerated(text: string, generators: Generators): Promise<string> {
  const names = new Set([...text.matchAll(PARTS)].map(([, , name = ""]) => name));
  const parts = new Map<string, string>();
  for (const name of names) {
    const generate = generators[name];
    if (!generate) throw new Error(`Nothing generates "${name}": there are ${Object.keys(generators).join(", ")}.`);
    parts.set(name, (await generate()).trimEnd());
  }
  return text.replaceAll(PARTS, (_, opening, name) => `${opening}${parts.get(name)}\n`);
}
