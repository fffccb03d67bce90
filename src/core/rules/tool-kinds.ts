/** Tools that affect only the child's own conversation: its task list, its background tasks, its tool schemas. */
export const BOOKKEEPING: readonly string[] = [
  "ToolSearch",
  "TodoWrite",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskUpdate",
  "TaskStop",
];
export const SEARCHERS: readonly string[] = ["Glob", "Grep"];
export const EDITORS: readonly string[] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
