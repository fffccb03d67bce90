// Plain JavaScript for Node, because it must work even if Bun doesn't.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = { bun: "bun", claude: "@anthropic-ai/claude-code" };
const bin = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules", ".bin");

for (const tool of process.argv.slice(2)) {
  const { status, stdout } = spawnSync(join(bin, tool), ["--version"], { encoding: "utf8" });
  if (status === 0 && /^\d+\.\d+/.test(stdout)) continue;
  console.error(
    `plexus: ${tool} is missing or broken in node_modules: its install script was blocked or failed. ` +
      `Run: npm install && npm rebuild ${PACKAGES[tool]}`,
  );
  process.exit(1);
}
