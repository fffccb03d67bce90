import type { RuleDecision } from "../../../contract/rules/rule.ts";

/** The built-in rules for the list of rules; docs/built-in-rules.md explains what each one proves. */
export const BUILTIN_RULES: readonly { name: string; decision: RuleDecision; covers: string }[] = [
  { name: "worktree", decision: "deny", covers: "EnterWorktree, ExitWorktree, Agent in another directory" },
  { name: "read", decision: "allow", covers: "Read in the session's directories" },
  { name: "search", decision: "allow", covers: "Glob, Grep in the session's directories" },
  { name: "bash", decision: "allow", covers: "Bash that is proven to only read there (supervision default)" },
  { name: "agent", decision: "allow", covers: "Agent, of Claude Code's own kinds (supervision default)" },
  { name: "bookkeeping", decision: "allow", covers: "ToolSearch, TodoWrite, Task lists" },
  { name: "allowed_tools", decision: "allow", covers: "What the session's allowed_tools cover" },
];
