import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { ROOT, run } from "../run.ts";

const Component = z.looseObject({ "bom-ref": z.string(), name: z.string() });
type Component = z.infer<typeof Component>;
const Bom = z.looseObject({
  metadata: z.looseObject({ component: Component }),
  components: z.array(Component),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
const Entry = z.looseObject({
  version: z.string(),
  name: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
});
const Lockfile = z.object({ packages: z.record(z.string(), Entry) });

const BUN = { "bom-ref": `bun@${Bun.version}`, type: "framework", name: "bun", version: Bun.version };

/**
 * The executables' bill of materials in CycloneDX: our dependencies, and Bun, which runs them. The same commit and npm
 * give the same text on any machine.
 */
export async function billOfMaterials({ commit, time }: { commit: string; time: Date }): Promise<string> {
  const bom = Bom.parse(JSON.parse(run("npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only")));
  const root = bom.metadata.component["bom-ref"];
  const kept = (await shippedPackages()).add(root);
  const dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((target) => kept.has(target)) }))
    .map((entry) => (entry.ref === root ? { ...entry, dependsOn: [...entry.dependsOn, BUN["bom-ref"]] } : entry));
  const components = bom.components.filter((component) => kept.has(component["bom-ref"])).map(portable);
  const text = {
    ...bom,
    serialNumber: `urn:uuid:${uuidOf(commit)}`,
    metadata: {
      ...bom.metadata,
      timestamp: time.toISOString(),
      // npm uses the folder's name as ours.
      component: { ...portable(bom.metadata.component), type: "application", name: manifest.name },
    },
    components: [...components, { ...BUN, purl: `pkg:npm/bun@${Bun.version}` }],
    dependencies: [...dependencies, { ref: BUN["bom-ref"], dependsOn: [] }],
  };
  return `${JSON.stringify(text, null, 2)}\n`;
}

/** Reads the lockfile, because `npm sbom --omit=dev` omits packages that a development tool needs too. */
async function shippedPackages(): Promise<Set<string>> {
  const { packages } = Lockfile.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
  const shipped = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional,
  );
  return new Set(
    shipped.map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, "")}@${version}`),
  );
}

/** Removes the place where npm found the package, which depends on the machine, and npm's notes on our development. */
function portable({ externalReferences: _, properties: __, ...rest }: Component): Component {
  return { ...rest, "bom-ref": rest["bom-ref"], name: rest.name };
}

/** Derives a version 8 UUID from the commit. */
function uuidOf(commit: string): string {
  const hex = createHash("sha256").update(commit).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return parts.join("-");
}
