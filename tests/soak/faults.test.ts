import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { FAULTS } from "../../soak/faults/faults.ts";
import { findingLines, isBroken, SHORT } from "../../soak/faults/finding.ts";

setDefaultTimeout(120_000);

describe("the promises are kept with", () => {
  for (const [name, fault] of Object.entries(FAULTS)) {
    test(name, async () => {
      const findings = await fault(SHORT);
      console.log(findingLines(name, findings).join("\n"));
      expect(findings.filter(isBroken)).toEqual([]);
      expect(findings.length).toBeGreaterThan(0);
    });
  }
});
