import { describe, test } from "bun:test";
import fc from "fast-check";
import { temporaryDataDir } from "../../support/temporary-data-dir.ts";
import { NEVER_MS } from "../open-core.ts";
import { createWorld, type Step } from "../world.ts";

const slot = fc.integer({ min: 0, max: 1 });
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ask"), slot }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("respond"),
      slot,
      as: fc.constantFrom("operator", "operator", "creator", "creator", "stranger", "child"),
      how: fc.constantFrom("allow", "deny", "edit"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("advance"),
      ms: fc.constantFrom(SECOND_MS, 100 * SECOND_MS, 150 * SECOND_MS, -20 * SECOND_MS, 300 * SECOND_MS, 3 * DAY_MS),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("expire") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("abandon"), slot }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave"), slot }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("turn") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rest") }) },
);

/** Steps run concurrently, unless a `turn` or a `rest` lies between them. */
describe("any interleaving of decisions, time-outs, repeats, departures, sweeps and restarts", () => {
  test("gives every approval one outcome, and tells everybody the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 5, maxLength: 40, size: "max" }),
        fc.constantFrom(0, NEVER_MS),
        async (steps, abandonAfterMs) => {
          await using directory = await temporaryDataDir();
          using world = await createWorld(directory.path, { abandonAfterMs });
          for (const step of steps) await world.take(step);
          await world.finish();
        },
      ),
      { numRuns: 120, interruptAfterTimeLimit: 40_000, markInterruptAsFailure: false },
    );
  }, 60_000);
});
