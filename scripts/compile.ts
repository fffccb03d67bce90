import { rename } from "node:fs/promises";
import { join } from "node:path";
import { bundlePage, PAGE_FILE } from "../src/web/bundle.ts";
import { ROOT, run } from "./run.ts";

/** Without the last two, the binary would load configuration from the directory in which it is started. */
const FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--sourcemap",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-dotenv",
];

type Options = {
  outfile: string;
  /** The commit that `plexus version` prints; undefined if the sources are not in a repository. */
  commit: string | undefined;
  /** Another platform, and the Bun executable for it. */
  platform?: { target: string; bun: string };
};

/** Compiles the executable. The same sources give the same bytes in any directory, if the file name is the same. */
export async function compile({ outfile, commit, platform }: Options): Promise<void> {
  const built = commit === undefined ? [] : [`--define=BUILD_COMMIT=${JSON.stringify(commit)}`];
  const elsewhere = platform ? [`--target=${platform.target}`, `--compile-executable-path=${platform.bun}`] : [];
  const main = join(ROOT, "src", "main.ts");
  run(process.execPath, "build", main, await writePage(), ...FLAGS, ...built, ...elsewhere, "--outfile", outfile);
}

/** Writes to a fixed path, which becomes part of the bytes; atomically, because another build may be reading it. */
async function writePage(): Promise<string> {
  const page = join(ROOT, "dist", PAGE_FILE);
  const draft = `${page}.${crypto.randomUUID()}`;
  await Bun.write(draft, JSON.stringify(await bundlePage("best")));
  await rename(draft, page);
  return page;
}
