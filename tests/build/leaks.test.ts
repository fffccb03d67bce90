import { describe, expect, test } from "bun:test";
import { leaksIn } from "../../scripts/testing/leaks.ts";

/** Assembled here, so that this file itself has no leak. */
const path = (...names: string[]) => `/${names.join("/")}`;
const host = (...labels: string[]) => labels.join(".");
const resolved = (url: string) => `${JSON.stringify("resolved")}: ${JSON.stringify(url)}`;

describe("leaksIn", () => {
  test.each([
    [`see ${path("root", "plexus")}`, path("root", "plexus")],
    [`"${path("home", "somebody", "code")}"`, path("home", "somebody", "code")],
    [`(${path("Users", "somebody")})`, path("Users", "somebody")],
    [`npm --registry ${host("registry", "example", "org")}`, host("registry", "example", "org")],
    [resolved("https://x"), resolved("https://x")],
  ])("finds the leak in %p", (line, found) => {
    expect(leaksIn("a.md", `fine\n${line}`)).toEqual([expect.stringMatching(new RegExp(`^a\\.md:2: .*: ${found}$`))]);
  });

  test.each([
    `USER plexus in ${path("home", "plexus")}`,
    `src${path("home", "page.ts")}`,
    `~${path("work", "project")}`,
    "the root of a tree, the registry of tools, npm install",
    "https://github.com/example/plexus",
  ])("finds no leak in %p", (line) => {
    expect(leaksIn("a.md", line)).toEqual([]);
  });
});
