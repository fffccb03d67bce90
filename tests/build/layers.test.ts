import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");
const BIOME = join(ROOT, "node_modules/.bin/biome");

/** Every possible target of an import; one file of each folder stands for the folder. */
const TARGETS = {
  contract: "src/contract/target.ts",
  files: "src/files/target.ts",
  storage: "src/storage/target.ts",
  sqlite: "src/storage/sqlite/target.ts",
  claude: "src/claude/target.ts",
  shell: "src/review/shell/target.ts",
  rules: "src/core/rules/target.ts",
  review: "src/review/target.ts",
  core: "src/core/turns/target.ts",
  outbound: "src/outbound/target.ts",
  http: "src/http/target.ts",
  mcp: "src/mcp/target.ts",
  client: "src/client/target.ts",
  web: "src/web/target.tsx",
  bundle: "src/web/bundle.ts",
  cli: "src/cli/target.ts",
  config: "src/config.ts",
  log: "src/log.ts",
  version: "src/version.ts",
  "operator-token": "src/operator-token.ts",
  app: "src/app.ts",
  main: "src/main.ts",
} as const;
type Target = keyof typeof TARGETS;
const PACKAGES = {
  sdk: ["@modelcontextprotocol/sdk/types.js"],
  sql: ["bun:sqlite", "drizzle-orm", "drizzle-orm/sqlite-core"],
} as const;
type Package = keyof typeof PACKAGES;

const TRANSPORT = ["app", "contract", "log", "config", "version"] as const;

/** The layers that a file may import; it may always import its own folder. */
const MAY_IMPORT: Record<string, readonly (Target | Package)[]> = {
  "src/contract/it.ts": ["contract"],
  "src/files/it.ts": ["files"],
  "src/storage/it.ts": ["storage", "contract"],
  "src/storage/folder/it.ts": ["storage", "contract"],
  "src/storage/sqlite/it.ts": ["storage", "sqlite", "contract", "sql"],
  "src/storage/sqlite/folder/it.ts": ["storage", "sqlite", "contract", "sql"],
  "src/claude/it.ts": ["claude", "files", "contract"],
  "src/review/shell/it.ts": ["shell", "contract"],
  "src/core/rules/it.ts": ["rules", "shell", "files", "contract"],
  "src/review/shell/folder/it.ts": ["shell", "contract"],
  "src/review/it.ts": ["review", "shell", "contract"],
  "src/core/it.ts": ["core", "storage", "claude", "rules", "review", "shell", "files", "contract"],
  "src/outbound/folder/it.ts": ["outbound", "core", "rules", "review", "shell", "storage", "contract"],
  "src/client/it.ts": ["client", "review", "shell", "contract"],
  "src/web/it.tsx": ["web", "bundle", "client", "review", "shell", "contract"],
  "src/web/folder/it.tsx": ["web", "bundle", "client", "review", "shell", "contract"],
  "src/http/it.ts": ["http", "bundle", ...TRANSPORT],
  "src/mcp/it.ts": ["mcp", "sdk", ...TRANSPORT],
  "src/cli/it.ts": keys(TARGETS).filter((target) => target !== "main" && target !== "sqlite"),
  "src/cli/folder/it.ts": keys(TARGETS).filter((target) => target !== "main" && target !== "sqlite"),
  "src/cli/commands/server/it.ts": keys(TARGETS).filter((target) => target !== "main"),
  "src/cli/server/it.ts": keys(TARGETS).filter((target) => target !== "main"),
  "src/config.ts": ["contract"],
  "src/log.ts": ["config", "contract"],
  "src/version.ts": [],
  "src/operator-token.ts": ["core", "rules", "contract"],
  "src/app.ts": [
    "core",
    "rules",
    "outbound",
    "storage",
    "sqlite",
    "claude",
    "contract",
    "config",
    "log",
    "operator-token",
  ],
  "src/main.ts": ["cli", "config", "contract", "version"],
  "src/a-folder-without-a-rule/it.ts": [],
  "tests/it.test.ts": [...keys(TARGETS), ...keys(PACKAGES)],
};

const Report = z.object({
  diagnostics: z.array(
    z.object({
      category: z.string(),
      location: z.object({ path: z.string(), start: z.object({ line: z.number() }) }),
    }),
  ),
});

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory();
  await copyFile(join(ROOT, "biome.json"), join(directory.path, "biome.json"));
});
afterAll(() => directory[Symbol.asyncDispose]());

describe("the linter", () => {
  test.each(Object.entries(MAY_IMPORT))("lets %s import only what its layer may", async (file, allowed) => {
    const imports = importsFor(file);
    await write(file, imports.map(({ specifier }) => `import "${specifier}";`).join("\n"));
    const refused = (await lint(file)).filter(({ category }) => category === "lint/style/noRestrictedImports");
    const lines = new Set(refused.map(({ location }) => location.start.line - 1));
    const accepted = imports.filter((_, line) => !lines.has(line)).map(({ target }) => target);
    expect([...new Set(accepted)].sort()).toEqual([...allowed].sort());
  });

  test("refuses a type, a re-export and a dynamic import as it does any other", async () => {
    const file = "src/http/it.ts";
    const ways = [
      'import type { A } from "../core/target.ts";',
      'export { b } from "../core/target.ts";',
      'export const c = (await import("../core/target.ts")) as A;',
    ];
    await write(file, ways.join("\n"));
    const refused = (await lint(file)).filter(({ category }) => category === "lint/style/noRestrictedImports");
    expect(refused.map(({ location }) => location.start.line)).toEqual([1, 2, 3]);
  });

  test.each([
    ["src/core/it.ts", true],
    ["src/main.ts", true],
    ["src/config.ts", false],
    ["tests/it.test.ts", false],
    ["scripts/it.ts", false],
  ])("in %s, refuses to read process.env: %p", async (file, isRefused) => {
    await write(file, 'export const home = process.env["HOME"];\n');
    expect((await lint(file)).map(({ category }) => category)).toEqual(isRefused ? ["lint/style/noProcessEnv"] : []);
  });

  test("can find every access to the environment: no file reads it through Bun", async () => {
    const files = await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan(ROOT));
    const texts = await Promise.all(
      files.map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })),
    );
    expect(texts.filter(({ text }) => /\bBun\.env\b|\bimport\.meta\.env\b/.test(text)).map(({ file }) => file)).toEqual(
      [],
    );
  });

  test("refuses two files that import each other", async () => {
    await write("src/core/it.ts", 'import "./other.ts";\n');
    await write("src/core/other.ts", 'import "./it.ts";\n');
    const categories = (await lint("src/core")).map(({ category }) => category);
    expect(categories).toContain("lint/suspicious/noImportCycles");
  });
});

function importsFor(file: string): { target: Target | Package; specifier: string }[] {
  const ours = keys(TARGETS)
    .filter((target) => TARGETS[target] !== file)
    .map((target) => ({ target, specifier: specifierOf(file, TARGETS[target]) }));
  const packages = keys(PACKAGES).flatMap((target) => PACKAGES[target].map((specifier) => ({ target, specifier })));
  return [...ours, ...packages];
}

function specifierOf(file: string, target: string): string {
  const path = relative(dirname(file), target);
  return path.startsWith(".") ? path : `./${path}`;
}

async function write(file: string, text: string): Promise<void> {
  const path = join(directory.path, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function lint(path: string) {
  const { stdout, stderr } = Bun.spawnSync([BIOME, "lint", "--reporter=json", "--max-diagnostics=none", path], {
    cwd: directory.path,
  });
  const report = /^\{.*\}$/ms.exec(stdout.toString())?.[0];
  if (report === undefined) throw new Error(`biome gave no report:\n${stdout}${stderr}`);
  return Report.parse(JSON.parse(report)).diagnostics;
}

function keys<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}
