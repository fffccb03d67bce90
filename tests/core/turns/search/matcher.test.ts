import { expect, test } from "bun:test";
import { createMatcher } from "../../../../src/core/turns/search/matcher.ts";

test("a match is shown with what stands around it, in one line, and a cut shows", () => {
  const find = (search: string, ...texts: string[]) => createMatcher(search)(texts);
  expect(find("Cart", "the\n  CART is empty")).toBe("the CART is empty");
  expect(find("x", "none", "one x", "two x")).toBe("one x");
  expect(find("nothing", "something")).toBeUndefined();
  const long = find("needle", `${"before ".repeat(1_000)}needle${" after".repeat(1_000)}`) ?? "";
  expect(long).toMatch(/^….*before needle after.*…$/);
  expect(long.length).toBeLessThan(220);
});
