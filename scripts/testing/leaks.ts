/** Home directories in a container that the Dockerfile and the docs may name. */
const CONTAINER_HOMES = ["plexus", "bun"];

const LEAKS = [
  {
    what: "a package registry's address",
    pattern: /https?:\/\/[\w.:@-]*\b(?:registry|npmjs|yarnpkg|npmmirror|artifactory|nexus|verdaccio)\b[\w.:-]*/gi,
  },
  { what: "a package registry's host", pattern: /\b(?:registry|npm)\.(?:[\w-]+\.)+(?:org|com|net|io|dev)\b/gi },
  { what: "where a package was fetched", pattern: /"resolved": *"https?:[^"]*"/g },
  {
    what: "a path of one machine",
    pattern: new RegExp(
      `(?<![\\w.~$}-])/(?:(?:root|work)(?:/[\\w.-]+)|(?:home|Users)/(?!(?:${CONTAINER_HOMES.join("|")})\\b)[\\w.-]+)[\\w./-]*`,
      "g",
    ),
  },
];

/** Returns every trace in a file of the machine that it was written on. */
export function leaksIn(path: string, text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      LEAKS.flatMap(({ what, pattern }) =>
        [...line.matchAll(pattern)].map(([found]) => `${path}:${index + 1}: ${what}: ${found}`),
      ),
    );
}
