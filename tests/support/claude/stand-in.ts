import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const INIT = {
  type: "system",
  subtype: "init",
  session_id: "6c1a6b0e-5f0b-4d0e-9d0f-2f1a1c3b5a77",
  model: "none",
  claude_code_version: "2.1.325",
  mcp_servers: [{ name: "plexus", status: "connected" }],
};
const RESULT = { type: "result", subtype: "success", is_error: false, result: "", session_id: INIT.session_id };

/** The first and the last line of any turn, as the CLI writes them. */
export const INIT_LINE = JSON.stringify(INIT);
export const RESULT_LINE = JSON.stringify(RESULT);

/**
 * A script in place of the CLI, for tests that need many or unusual ones. It reports a version and runs this shell
 * script.
 */
export function writeStandIn(directory: string, script: string): string {
  const path = join(directory, "claude");
  const version = `[ "$1" = --version ] && { echo '2.1.325 (Claude Code)'; exit; }`;
  writeFileSync(path, `#!/bin/sh\n${version}\necho '${INIT_LINE}'\n${script}\n`);
  chmodSync(path, 0o700);
  return path;
}

/**
 * A script that says the first line of its prompt and exits; with the prompt `hang` it says nothing and keeps running.
 */
export function writeEcho(directory: string): string {
  const said = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"'"$line"'"}]}}`;
  return writeStandIn(
    directory,
    `read -r line\n[ "$line" = hang ] && exec sleep 600\necho '${said}'\necho '${RESULT_LINE}'`,
  );
}
