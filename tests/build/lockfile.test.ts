import { expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";

const Lockfile = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      dependencies: z.record(z.string(), z.string()).default({}),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

const LOCKFILES = ["package-lock.json", "tests/clients/package-lock.json"];

test.each(LOCKFILES)("%s has every package of every platform, so that npm ci works on all", async (path) => {
  const { packages } = Lockfile.parse(await Bun.file(join(import.meta.dir, "../..", path)).json());
  const locked = new Set(Object.entries(packages).flatMap(([path, { version }]) => (version ? nameOf(path) : [])));
  const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !locked.has(name))
      .map((name) => `${path} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}
