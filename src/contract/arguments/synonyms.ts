/** Names that callers use for an argument, with the real names; the first one that the tool has is meant. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  wait_secs: ["timeout_secs"],
  timeout_secs: ["wait_secs", "loopback_timeout_secs"],
  timeout: ["timeout_secs", "wait_secs", "loopback_timeout_secs"],
  wait: ["wait_secs", "timeout_secs"],
  id: ["approval_id", "session_id"],
  request_id: ["approval_id"],
  session: ["session_id", "name"],
  session_name: ["name", "session_id"],
  name: ["session_id"],
  cwd: ["working_dir"],
  directory: ["working_dir"],
  work_dir: ["working_dir"],
  path: ["working_dir"],
  task: ["prompt"],
  message: ["prompt"],
  text: ["prompt", "message"],
  reason: ["message"],
  allow: ["approve"],
  decision: ["approve"],
  input: ["updated_input"],
  cursor: ["since"],
  tools: ["allowed_tools"],
  budget: ["max_budget_usd"],
  rename: ["new_name"],
};

/** Returns the argument that a caller means by another word. */
export function synonymOf(given: string, known: readonly string[]): string | undefined {
  const word = given.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const meant = Object.hasOwn(MEANT, word) ? MEANT[word] : undefined;
  return meant?.find((name) => known.includes(name));
}
