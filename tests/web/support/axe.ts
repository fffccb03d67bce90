import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { z } from "zod";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const Violations = z.array(z.object({ id: z.string(), impact: z.string(), targets: z.array(z.string()) }));

/** The serious problems that axe-core finds on a page. The page must allow the script (`bypassCSP`). */
export async function violationsOn(page: Page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => (
    { id, impact, targets: nodes.map(({ target, failureSummary }) => target.join(" ") + " " + failureSummary) })))`);
  return Violations.parse(found).filter(({ impact }) => impact === "serious" || impact === "critical");
}
