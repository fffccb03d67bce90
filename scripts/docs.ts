import { generatedPages } from "./docs/generated.ts";

/** Writes what the code says of itself into the pages that have a place for it. */
for (const { page, path, before, after, problems } of await generatedPages()) {
  for (const problem of problems) console.error(`${page}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  if (after === before) continue;
  await Bun.write(path, after);
  console.log(`wrote ${page}`);
}
