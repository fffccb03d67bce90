/** Test files that can't run beside others, each with the reason; they run one after the other when the others are done. */
export const ALONE: Record<string, string> = {
  "tests/readme/commands.test.ts": "takes the default port, as the README's commands do",
};
