import { fileURLToPath } from "node:url";
import { z } from "zod";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

const Requirements = z.object({
  server: z.array(z.string()),
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.string() })),
});

/** The scenarios that a revision requires of a server, and others that run beside them without counting. */
export async function requiredScenarios(revision: Revision): Promise<{ scored: string[]; others: string[] }> {
  const suite = import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js");
  const file = fileURLToPath(new URL(`../requirements/${revision}.yaml`, suite));
  const { server, not_scored } = Requirements.parse(Bun.YAML.parse(await Bun.file(file).text()));
  return { scored: server, others: not_scored.flatMap(({ scenario, leg }) => (leg === "server" ? [scenario] : [])) };
}

/** Scenarios that run beside the required ones and fail, because Plexus' own server has no such feature. */
export const NOT_OFFERED: Record<Revision, Record<string, string>> = {
  "2025-11-25": {},
  "2026-07-28": {
    "http-custom-header-server-validation": "a tool that takes arguments from headers",
    "tasks-capability-negotiation": "the extension for tasks",
    "tasks-dispatch-and-envelope": "the extension for tasks",
    "tasks-lifecycle": "the extension for tasks",
    "tasks-mrtr-composition": "the extension for tasks",
    "tasks-mrtr-input": "the extension for tasks",
    "tasks-request-headers": "the extension for tasks",
    "tasks-request-state-removal": "the extension for tasks",
    "tasks-required-task-error": "the extension for tasks",
    "tasks-status-notifications": "the extension for tasks",
    "tasks-wire-fields": "the extension for tasks",
  },
};

/**
 * Scenarios that any server must pass, whatever its tools, prompts and resources. They also run against Plexus' own
 * server.
 */
export const TRANSPORT_SCENARIOS: Record<Revision, string[]> = {
  "2025-11-25": [
    "dns-rebinding-protection",
    "logging-set-level",
    "ping",
    "resources-list",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "tools-list",
  ],
  "2026-07-28": [
    "caching",
    "dns-rebinding-protection",
    "input-required-result-unsupported-methods",
    "resources-list",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "server-stateless",
    "tools-list",
  ],
};

/** Checks of those scenarios that still need something of the suite's own. */
export const FIXTURE_CHECKS: Record<string, string> = {
  "sep-2549-prompts-list-caching-hints": "prompts: Plexus offers none",
  "sep-2575-server-rejects-undeclared-capability": "the tool test_missing_capability",
  "sep-2575-missing-capability-http-400": "the tool test_missing_capability",
};
