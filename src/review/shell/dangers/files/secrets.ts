import type { ProgramCall } from "../../programs/programs.ts";
import type { CommandContext, Finding, Rule } from "../rule.ts";

const NAMES = [
  String.raw`\.(ssh|gnupg|aws|azure|kube|password-store)`,
  String.raw`\.config/(gcloud|gh|op)`,
  String.raw`\.docker/config\.json`,
  String.raw`\.(netrc|npmrc|pypirc|git-credentials|pgpass|my\.cnf|vault-token)`,
  String.raw`\.claude/\.credentials\.json`,
  "operator-token",
  "id_(rsa|dsa|ed25519|ecdsa)",
];
const IN_PATH = new RegExp(`(^|/)(${NAMES.join("|")})(/|$)`, "i");
const ENVIRONMENT = /(^|\/)\.env(\.(?!(example|sample|template|dist)$)[\w.-]+)?$/i;
const SYSTEM =
  /^\/etc\/(g?shadow|sudoers)(?:[-~]|\.[\w.~-]+)?(\/|$)|^\/proc\/[^/]+\/(environ|mem)$|\.(pem|p12|pfx|keystore|jks|kdbx)$/i;

/** Programs that print credentials, with the arguments that make them do so. */
const PRINTS: Record<string, RegExp> = {
  gh: /^auth token/,
  gcloud: /^auth (application-default )?print-/,
  aws: /get-(secret-value|login-password|session-token|authorization-token)|--with-decryption/,
  az: /^account get-access-token|^keyvault secret show/,
  kubectl: /^config view .*--raw|^(?=.*\bget secrets?\b).*-o/s,
  security: /^(find-|dump-keychain)/,
  pass: /^(show|[\w/]+$)/,
  op: /^(read|item get)/,
  vault: /^(read|kv get|token)/,
  "secret-tool": /^lookup/,
  git: /\bcredential fill\b/,
  gpg: /--export-secret/,
  npm: /^token (list|create)/,
};

/** Whether a file at this path usually contains credentials. */
export function holdsSecrets(path: string): boolean {
  return IN_PATH.test(path) || ENVIRONMENT.test(path) || SYSTEM.test(path);
}

/** Reads, changes or prints credentials. */
export const secrets: Rule = { rule: "secrets", test: findSecrets };

function findSecrets({ program, args, words, redirects }: ProgramCall, { real }: CommandContext): Finding {
  const named = [...words, ...redirects.flatMap(({ target }) => target ?? []), ...real];
  const found = named.find(
    ({ value }) =>
      holdsSecrets(value.replace(/^[\w-]*[=:@]*@|^[\w-]+=/, "")) ||
      // `HEAD:.env` is a file that git has stored.
      (program === "git" && value.includes(":") && holdsSecrets(value.slice(value.indexOf(":") + 1))),
  );
  if (found) return `accesses a file with credentials (${found.value})`;
  const prints = Object.hasOwn(PRINTS, program) ? PRINTS[program] : undefined;
  const isPrinting = prints?.test(args.map(({ value }) => value).join(" "));
  return isPrinting ? `prints credentials (${program})` : undefined;
}
