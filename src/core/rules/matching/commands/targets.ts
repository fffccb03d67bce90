import { isOption } from "./options/option-names.ts";

/** Programs whose words are all targets; none is a verb. */
const TARGETS = new Set(
  "make just ninja samu gradle mvn ant rake task mage invoke inv nox grunt gulp npm-run-all npm-run-all2 run-s run-p wireit".split(
    " ",
  ),
);
/** Programs whose words are targets after one of these verbs. */
const AFTER_VERB = new Map(
  Object.entries({
    turbo: "run",
    lerna: "run exec",
    bazel: "build test run",
    bazelisk: "build test run",
    nx: "run run-many",
    moon: "run",
    systemctl: "start stop restart reload kill disable enable mask",
  }).map(([program, verbs]): [string, ReadonlySet<string>] => [program, new Set(verbs.split(" "))]),
);
/** Verbs that act on each of the words after them. */
const LISTING_VERBS = new Set(
  "install i add uninstall remove rm rmi delete del stop kill purge autoremove publish unpublish".split(" "),
);
/** Programs whose first word is a verb, so the same word in a later place has another meaning. */
const WITH_VERB = new Set(
  "git npm pnpm yarn bun cargo go docker podman kubectl helm gh glab pip uv poetry apt dnf brew systemctl terraform tofu aws gcloud az conda gem bundle composer dotnet deno svn hg turbo lerna bazel nx flyctl fly heroku vercel netlify firebase supabase prisma rustup".split(
    " ",
  ),
);

/** The index of the first sought word that is a target. Targets may occur anywhere among the others. */
export function targetsFrom(program: string, operands: readonly string[]): number | undefined {
  if (TARGETS.has(program)) return 0;
  const [verb = ""] = operands;
  return AFTER_VERB.get(program)?.has(verb) || (WITH_VERB.has(program) && LISTING_VERBS.has(verb)) ? 1 : undefined;
}

export function takesVerb(program: string): boolean {
  return WITH_VERB.has(program);
}

/** Whether a word names the sought target: for git, `HEAD:main` names `main`; for gradle, `:app:main` does. */
export function isTarget(program: string, word: string, sought: string): boolean {
  return word === sought || namesIn(program, word).includes(sought) || isShortened(program, word, sought);
}

/** Other targets that a word may name, for known programs. */
export function namesIn(program: string, word: string): string[] {
  if (isOption(word)) return [];
  if (program === "git") {
    const [from = "", to = from] = word.replace(/^\+/, "").split(":");
    return [from, to].flatMap((one) => [one, one.replace(/^(?:refs\/)?(?:heads|tags)\//, "")]);
  }
  if (TARGETS.has(program) || AFTER_VERB.has(program)) {
    // `./x` stands for `x`; `app:x`, `app#x` and `mod::x` end with their target; npm-run-all splits a text at blanks.
    return word.split(/\s+/).flatMap((one) => [one.replace(/^(?:\.\/+)+/, ""), one.split(/[:#]/).at(-1) ?? ""]);
  }
  // A package with its version, or one that is installed under another name.
  return [word.replace(/(?!^)[=<>~![;@].*$/, ""), word.replace(/^.*@npm:/, "").replace(/(?!^)@.*$/, "")];
}

/** Gradle accepts the first letters of each part of a task's name, in any case: `dP` for `deployProd`. */
function isShortened(program: string, word: string, sought: string): boolean {
  if (program !== "gradle" || word === "" || isOption(word)) return false;
  const name = word.split(":").at(-1) ?? "";
  if (name !== "" && sought.toLowerCase().startsWith(name.toLowerCase())) return true;
  const [parts, whole] = [name, sought].map((one) => one.split(/(?=[A-Z])|-/).map((part) => part.toLowerCase()));
  if (!parts || !whole || parts.length > whole.length) return false;
  return parts.every((part, at) => part !== "" && whole[at]?.startsWith(part) === true);
}
