import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";
import { cloudChange } from "./cloud.ts";

const PACKAGES = "publish unpublish deprecate login logout adduser owner access token dist-tag";
const CLUSTER =
  "delete apply create replace patch edit scale drain cordon uncordon taint run expose label annotate set autoscale cp";
const INFRASTRUCTURE = "apply destroy import taint untaint refresh test login force-unlock";
/** Publishing tasks of gradle, in any project. */
const GRADLE = /(?:^|:)(?:publish(?!ToMavenLocal)\w*|uploadArchives)$/;
/** Verbs of two words. */
const PAIRS: Record<string, RegExp> = {
  terraform: /^(state (rm|mv|push|replace-provider)|workspace delete)/,
  tofu: /^(state (rm|mv|push|replace-provider)|workspace delete)/,
};
/** For each program, its verbs that change what others see or use. */
const VERBS: Record<string, string> = {
  npm: PACKAGES,
  pnpm: PACKAGES,
  yarn: "publish npm",
  bun: "publish",
  cargo: "publish yank owner login",
  gem: "push yank owner signin",
  twine: "upload",
  poetry: "publish",
  uv: "publish",
  hatch: "publish",
  mvn: "deploy site-deploy release:perform",
  docker: "push login",
  podman: "push login",
  skopeo: "copy delete",
  helm: "push install upgrade uninstall delete rollback",
  terraform: INFRASTRUCTURE,
  tofu: INFRASTRUCTURE,
  terragrunt: `${INFRASTRUCTURE} run run-all`,
  pulumi: "up destroy import",
  kubectl: CLUSTER,
  oc: CLUSTER,
  ansible: "",
  "ansible-playbook": "",
  cdk: "deploy destroy",
  serverless: "deploy remove",
  sls: "deploy remove",
  firebase: "deploy",
  wrangler: "deploy publish delete",
  vercel: "deploy --prod remove rm env",
  netlify: "deploy",
  fly: "deploy destroy scale secrets",
  flyctl: "deploy destroy scale secrets",
  heroku: "apps:destroy config:set releases:rollback run",
  eb: "deploy terminate",
  surge: "",
  ngrok: "",
  cloudflared: "",
};

/** Changes something on other machines or for other people. */
export const publish: Rule = { rule: "publish", test: findPublishing };

function findPublishing(command: ProgramCall): Finding {
  const { program, args } = command;
  const verbs = Object.hasOwn(VERBS, program) ? VERBS[program] : undefined;
  if (verbs === "" && args.length > 0) return `changes something on other machines (${program})`;
  const verb = verbOf(command, verbs?.split(" ") ?? []) ?? changeOf(command) ?? cloudChange(command);
  return verb && `changes something on other machines (${program} ${verb})`;
}

function changeOf({ program, args }: ProgramCall): string | undefined {
  const plain = args.map(({ value }) => value).filter((value) => !value.startsWith("-"));
  if (/^gradlew?$/.test(program)) return plain.find((task) => GRADLE.test(task));
  return Object.hasOwn(PAIRS, program) ? PAIRS[program]?.exec(plain.join(" "))?.[0] : undefined;
}

/** Returns the first operand that is a verb; the values of options before it don't count. */
function verbOf({ args }: ProgramCall, verbs: string[]): string | undefined {
  const plain = args.map(({ value }) => value).filter((value) => !value.startsWith("-") || value === "--prod");
  return plain.slice(0, 3).find((value, at) => verbs.includes(value) && (at === 0 || args[0]?.value.startsWith("-")));
}
