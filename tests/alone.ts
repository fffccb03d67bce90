/** Test files that can't run beside others, each with the reason. They run one by one after the others are done. */
export const ALONE: Record<string, string> = {
  "tests/core/rulebook/history/long-history.test.ts": "bounds processor time",
  "tests/core/rules/allowed-tools.test.ts": "bounds processor time, which caches shared with another test make longer",
  "tests/core/rules/bash.test.ts": "bounds processor time",
  "tests/core/rules/matching/cost.test.ts": "bounds processor time",
  "tests/review/hostile-requests.test.ts": "bounds processor time",
  "tests/review/shell/dangers.test.ts": "compares processor times",
  "tests/review/shell/parsed-command.test.ts": "bounds processor time",
  "tests/web/everybody.test.ts": "bounds the time to the first paint",
};

/** Test files that can't share a process with others, each with the reason. They run in parallel all the same. */
export const APART: Record<string, string> = {
  "tests/core/servers/two-servers.test.ts": "has two servers on one database, which wait for each other's commits",
  "tests/claude/output/output.test.ts": "bounds the heap",
  "tests/http/middleware/body.test.ts": "bounds the memory of its process",
  "tests/mcp/modern/loading.test.ts": "looks at what its process has loaded",
};
