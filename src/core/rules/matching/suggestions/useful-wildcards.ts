/** For each program, the verbs after which any words are as harmless as the given ones. */
const VERBS = new Map(
  Object.entries({
    git: "add commit diff log show blame status switch branch stash grep shortlog describe rev-parse ls-files fetch",
    cargo: "test build check clippy fmt doc bench nextest",
    go: "test build vet fmt list doc",
    npm: "test ls list outdated view why audit",
    pnpm: "test ls list outdated why audit",
    yarn: "test list why outdated",
    gh: "",
    docker: "",
    dotnet: "",
    gradle: "test build check",
    mvn: "test compile verify",
    make: "test check lint build",
  }).map(([program, verbs]): [string, ReadonlySet<string>] => [program, new Set(verbs.split(" "))]),
);
/** Programs whose verb does not tell what runs: the word after it does. */
const RUN_SCRIPTS = new Map([
  ["npm", ["run", "run-script"]],
  ["pnpm", ["run"]],
  ["yarn", ["run"]],
]);
/** Programs whose arguments are only files and options. */
const ANY = new Set(
  "mkdir touch pytest eslint prettier biome tsc vitest jest mocha ruff mypy black flake8 rubocop rspec shellcheck jq rg ctest golangci-lint".split(
    " ",
  ),
);

/** The number of leading words in a useful wildcard pattern; `undefined` if exact words are better. */
export function wildcardAfter(words: readonly string[]): number | undefined {
  const [program = "", verb = "", script = ""] = words;
  if (words.length > 1 && ANY.has(program)) return 1;
  if (RUN_SCRIPTS.get(program)?.includes(verb)) return words.length > 3 && !script.startsWith("-") ? 3 : undefined;
  return words.length > 2 && VERBS.get(program)?.has(verb) ? 2 : undefined;
}
