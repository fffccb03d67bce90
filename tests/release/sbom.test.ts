import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { billOfMaterials } from "../../scripts/release/sbom.ts";
import { leaksIn } from "../../scripts/testing/leaks.ts";
import { ROOT } from "../readme/readme.ts";

setDefaultTimeout(60_000);

const Bom = z.object({
  metadata: z.object({ timestamp: z.string(), component: z.object({ name: z.string(), version: z.string() }) }),
  components: z.array(z.object({ name: z.string(), version: z.string() })),
});
const of = { commit: "0123456789ab", time: new Date("2026-01-02T03:04:05Z") };
/** npm is slow, so it is called no more than needed. */
const made = billOfMaterials(of);

describe("the bill of materials", () => {
  test("is valid CycloneDX", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
    expect(await validator.validate(await made)).toBeNull();
  });

  test("has this version and commit, and is the same each time", async () => {
    const text = await made;
    expect(Bom.parse(JSON.parse(text)).metadata).toEqual({
      timestamp: "2026-01-02T03:04:05.000Z",
      component: { name: "plexus", version: manifest.version },
    });
    expect(await billOfMaterials(of)).toBe(text);
  });

  test("does not say where packages were downloaded from", async () => {
    expect(leaksIn("sbom", await made)).toEqual([]);
  });

  test("names every package that has code in the executable, and Bun", async () => {
    const { components } = Bom.parse(JSON.parse(await made));
    const named = new Set(components.map(({ name }) => name));
    const bundled = await bundledPackages();
    expect(bundled).toEqual(expect.arrayContaining(["hono", "preact"]));
    expect(bundled.filter((name) => !named.has(name))).toEqual([]);
    expect(components).toContainEqual({ name: "bun", version: Bun.version });
  });

  test("leaves out packages that only development needs", async () => {
    const { components } = Bom.parse(JSON.parse(await made));
    const names = components.map(({ name }) => name);
    expect(names).not.toContain("typescript");
    expect(names).not.toContain("@anthropic-ai/claude-code");
  });
});

const SourceMap = z.object({ sources: z.array(z.string()) });

async function bundledPackages(): Promise<string[]> {
  const program = Bun.build({ entrypoints: [join(ROOT, "src/main.ts")], target: "bun", sourcemap: "external" });
  const page = Bun.build({ entrypoints: [join(ROOT, "src/web/main.tsx")], target: "browser", sourcemap: "external" });
  const outputs = (await Promise.all([program, page])).flatMap((bundle) => bundle.outputs);
  const maps = outputs.filter(({ kind }) => kind === "sourcemap");
  const sources = await Promise.all(maps.map(async (map) => SourceMap.parse(JSON.parse(await map.text())).sources));
  const names = sources.flat().map((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}
