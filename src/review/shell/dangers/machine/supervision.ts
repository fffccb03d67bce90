import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** Commands of Plexus that only read. */
const PLEXUS_READ_ONLY =
  /^(pending|history|sessions|logs|version|healthcheck|doctor|completion|audit|--version|--help|-h|-V)$/;
const AGENTS = new Set(["claude", "codex", "gemini", "aider", "opencode", "goose", "cursor-agent", "amp", "copilot"]);
const AGENT_READ_ONLY = /^(--version|-v|--help|-h|doctor|update)$/;
const OWN_ADDRESS = /(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0):4445\b|\/api\/v1\/approvals\b/i;

const PORT = ":4445";
/** Host names are not longer. */
const MAX_FRONT = 300;
const LOOPBACK = /^(?:127\.|0\.0\.0\.0$|(?:.*\.)?localhost\.?$|\[::(?:1|ffff:7f[\da-f:]*)?\]$)/;

/** Uses Plexus itself, or starts an agent that nothing supervises. */
export const supervision: Rule = { rule: "supervision", test: findSupervision };

function findSupervision({ program, args }: ProgramCall): Finding {
  const [first] = args.map(({ value }) => value);
  if (program === "plexus") {
    return PLEXUS_READ_ONLY.test(first ?? "")
      ? undefined
      : `may decide its own requests (plexus${first ? ` ${first}` : ""})`;
  }
  if (AGENTS.has(program)) {
    const unsupervised = args.find(({ value }) => /^--(dangerously|allow-dangerously|yolo|full-auto)/.test(value));
    if (unsupervised) return `starts an agent that acts without asking (${program} ${unsupervised.value})`;
    return AGENT_READ_ONLY.test(first ?? "") ? undefined : `starts another agent (${program})`;
  }
  return args.some(({ value }) => OWN_ADDRESS.test(value) || isOwn(value))
    ? "sends requests to Plexus itself"
    : undefined;
}

/** Finds the server's address in any spelling that programs accept: `127.1:4445`, `0:4445`, `localhost.:4445`. */
function isOwn(word: string): boolean {
  const colon = word.indexOf(PORT);
  if (colon < 0) return false;
  const front = word.slice(Math.max(0, colon - MAX_FRONT), colon);
  const host = front.slice(front.search(/[^\s=/@]*$/));
  const address = `http://${host}${PORT}`;
  return URL.canParse(address) && LOOPBACK.test(new URL(address).hostname);
}
