import { createHash } from "node:crypto";
import type { JsonObject } from "../../../../src/contract/values.ts";
import { openDirect } from "../../../storage/sqlite/support/direct.ts";

type Past = { tool: string; input: JsonObject; status: "allowed" | "denied" };
type Place = { dataDir: string; sessionId: string };

/** Writes decided requests straight into the database: making and deciding so many would take minutes. */
export function plantPast({ dataDir, sessionId }: Place, count: number, pastOf: (at: number) => Past): void {
  using direct = openDirect(dataDir);
  const insert = direct.sqlite.prepare(
    `INSERT INTO loopback_approvals (id, session_id, session_name, asked_in, owner, tool_name, input, ask_hash, status,
       created_at, expires_at, resolved_at, resolved_by) VALUES (?, ?, 'child', ?, 'operator', ?, ?, ?, ?, ?, ?, ?, 'operator')`,
  );
  const now = Date.now();
  direct.write(() => {
    for (let at = 0; at < count; at++) {
      const { tool, input, status } = pastOf(at);
      const text = JSON.stringify(input);
      const hash = createHash("sha256").update(text).digest("hex");
      insert.run(Bun.randomUUIDv7(), sessionId, sessionId, tool, text, hash, status, now, now, now);
    }
  });
  insert.finalize();
}

/** Commands as agents write them, almost all different. */
export function variedCommand(at: number): string {
  const kinds = [
    `git commit -m "Fix the case ${at} of the reader"`,
    `grep -rn "name${at}" src | head -20`,
    `sed -n '${at},${at + 40}p' src/part-${at % 700}/file.ts`,
    `npm test -- tests/part-${at}/file.test.ts 2>&1 | tail -30`,
    `cat src/part-${at}/file.ts`,
    `for f in src/part-${at}/*.ts; do echo "$f"; wc -l "$f"; done`,
    `python3 - <<'EOF'\nimport json\nprint(json.load(open("out-${at}.json"))["items"][:3])\nEOF`,
    `find . -name "*-${at}.ts" -not -path "./node_modules/*" | xargs grep -l "export"`,
    `cd packages/p${at} && npm run build && ls -la dist`,
    `git diff HEAD~${at % 9} -- src/part-${at}/file.ts | head -100`,
    `curl -s -X POST localhost:3000/items/${at} -d '{"name":"n${at}","tags":["a","b"]}' | jq .`,
    `npx tsc --noEmit -p packages/p${at}/tsconfig.json`,
    `awk -F, '{ if ($2 == "x${at}") print $1 }' data/table.csv | sort | uniq -c`,
    `mkdir -p build/${at}/assets && cp -r assets/${at} build/${at}/assets`,
    `rm -f /tmp/out-${at}.log; node scripts/report.js --id ${at} > /tmp/out-${at}.log`,
    `touch notes/day-${at}.md`,
  ];
  return kinds[at % kinds.length] ?? "";
}

const REPEATED = 400;

/**
 * Calls of all common tools, in a working directory. `repeating`: nearly all come again and again, as children make them;
 * otherwise no call is like another.
 */
export function mixedCall(at: number, place: string, kind: "repeating" | "different"): Pick<Past, "tool" | "input"> {
  const one = kind === "different" || at % 25 === 0 ? at : Math.floor(at / 25) % REPEATED;
  const file = `${place}/src/part-${one % 700}/file-${one}.ts`;
  const calls: Pick<Past, "tool" | "input">[] = [
    { tool: "Read", input: { file_path: file } },
    { tool: "Edit", input: { file_path: file, old_string: "a".repeat(300), new_string: `b${at}` } },
    { tool: "Write", input: { file_path: `${place}/out/${one}.md`, content: "c".repeat(1_000) } },
    { tool: "Grep", input: { pattern: `name${one}`, path: `${place}/src` } },
    { tool: "WebFetch", input: { url: `https://docs.rs/crate-${one}/latest`, prompt: "What does it do?" } },
    { tool: "mcp__github__get_issue", input: { owner: "one", repo: "two", number: one } },
  ];
  const bash = { tool: "Bash", input: { command: variedCommand(one), description: `Step ${at}` } };
  return at % 5 < 3 ? bash : (calls[(one + (at % 5)) % calls.length] ?? bash);
}
