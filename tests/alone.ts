/** Test files that can't run beside others, each with the reason. They run one by one after the others are done. */
export const ALONE: Record<string, string> = {
  "tests/core/rulebook/long-history.test.ts": "bounds processor time",
  "tests/core/rules/allowed-tools.test.ts": "bounds processor time, which caches shared with another test make longer",
  "tests/core/rules/bash.test.ts": "bounds processor time",
  "tests/core/rules/matching/cost.test.ts": "bounds processor time",
  "tests/review/hostile-requests.test.ts": "bounds processor time",
  "tests/review/shell/dangers.test.ts": "compares processor times",
  "tests/review/shell/parsed-command.test.ts": "bounds processor time",
  "tests/web/everybody.test.ts": "bounds the time to the first paint",
};
