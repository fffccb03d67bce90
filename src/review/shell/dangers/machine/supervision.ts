import type { Subject } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** What of Plexus only looks. */
const PLEXUS_LOOKS =
  /^(pending|history|sessions|logs|version|healthcheck|doctor|completion|audit|--version|--help|-h|-V)$/;
const AGENTS = new Set(["claude", "codex", "gemini", "aider", "opencode", "goose", "cursor-agent", "amp", "copilot"]);
const AGENT_LOOKS = /^(--version|-v|--help|-h|doctor|update)$/;
const OWN_ADDRESS = /(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0):4445\b|\/api\/v1\/approvals\b/i;

/** Reaches for what supervises it, or starts an agent that nothing supervises. */
export const supervision: Rule = { rule: "supervision", test: findSupervision };

function findSupervision({ program, args }: Subject): Finding {
  const [first] = args.map(({ value }) => value);
  if (program === "plexus") {
    return PLEXUS_LOOKS.test(first ?? "")
      ? undefined
      : `may decide its own requests (plexus${first ? ` ${first}` : ""})`;
  }
  if (AGENTS.has(program)) {
    const free = args.find(({ value }) => /^--(dangerously|allow-dangerously|yolo|full-auto)/.test(value));
    if (free) return `starts an agent that asks nobody (${program} ${free.value})`;
    return AGENT_LOOKS.test(first ?? "") ? undefined : `starts another agent (${program})`;
  }
  return args.some(({ value }) => OWN_ADDRESS.test(value)) ? "talks to the server that supervises it" : undefined;
}
