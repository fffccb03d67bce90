import { expect, setDefaultTimeout, test } from "bun:test";
import { openWorkshop } from "../support/workshop.ts";

setDefaultTimeout(120_000);

test("plexus demo leads to a first decision, and says what is left of it", async () => {
  await using shop = await openWorkshop();
  await using screen = shop.onScreen(["demo"]);
  const shown = await screen.shows("Allow it? [a]llow");
  expect(shown).toContain("I want to write a greeting to a file. You decide whether I may.");
  expect(shown).toContain("Hello from your first child.");
  // Right after a change, keys are ignored for a short time, and exactly this time must pass.
  await Bun.sleep(400);
  screen.type("a");
  expect(await screen.exited).toBe(0);
  const end = screen.text();
  expect(end).toContain("✓ Write was allowed by operator");
  expect(end).toContain("You allowed it, and hello.txt is written.");
  expect(end).toContain('Session "demo" is removed in 10m0s; your decision stays in the history.');
});
