/**
 * The minimal server, for comparison: requests and decisions directly on Bun.serve and bun:sqlite. It writes the same
 * rows to the same tables and indexes, checks tokens, validates with the same schemas, and commits in groups with
 * synchronous=FULL before it answers. It has no sessions, rules, limits, resumption, event streams or metrics.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { OperatorPermitInput } from "../../src/contract/approvals/approval.ts";
import { Decision } from "../../src/contract/approvals/decision.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";

const db = openDatabase(join(process.env["PLEXUS_DATA_DIR"] ?? "", "plexus.db"));
const OWNER = "operator";
const TIMEOUT_MS = 86_400_000;
const hashOf = (text: string) => createHash("sha256").update(text).digest();
const operatorHash = hashOf(process.env["PLEXUS_TOKEN"] ?? "");
const encoder = new TextEncoder();

const readToken = db.query<{ hash: string; session_id: string }, [string]>(
  "SELECT hash, session_id FROM tokens WHERE id = ?",
);
const insertApproval = db.query(
  `INSERT INTO loopback_approvals (id, session_id, session_name, asked_in, owner, tool_name, tool_use_id, input, ask_hash,
     status, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
);
const insertChange = db.query("INSERT INTO changes (kind, owner, session_id, subject_id, at) VALUES (?, ?, ?, ?, ?)");
const insertEntry = db.query(
  "INSERT INTO audit (chain, seq, approval_id, at, entry, hash) VALUES ('decisions', ?, ?, ?, ?, ?)",
);
type Settled = { session_id: string; tool_name: string; input: string };
const settle = db.query<Settled, [string, number, string, number, number, string]>(
  `UPDATE loopback_approvals SET status = ?, resolved_at = ?, resolved_by = ?, delivered_at = ?, audit_seq = ?
   WHERE id = ? AND status = 'pending' RETURNING session_id, tool_name, input`,
);

/** The callers that wait for a decision. */
const waiting = new Map<string, (approve: boolean, input: string) => void>();
let jobs: { work: () => () => void; failed: (cause: unknown) => void }[] = [];
let last = { seq: 0, hash: "0".repeat(64) };

/** Commits all work of one turn of the event loop together; resolves when it is on disk. */
function commit<T>(work: () => T): Promise<T> {
  return new Promise((resolve, failed) => {
    const run = () => {
      const result = work();
      return () => resolve(result);
    };
    if (jobs.push({ work: run, failed }) === 1) setImmediate(flush);
  });
}

function flush(): void {
  const batch = jobs;
  jobs = [];
  try {
    db.run("BEGIN IMMEDIATE");
    const done = batch.map(({ work }) => work());
    db.run("COMMIT");
    for (const settle of done) settle();
  } catch (cause) {
    if (db.inTransaction) db.run("ROLLBACK");
    for (const { failed } of batch) failed(cause);
  }
}

/** Returns the session of a child's token, or "" for the operator's token. */
function callerOf(request: Request): string | undefined {
  const secret = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
  const hash = hashOf(secret);
  if (timingSafeEqual(hash, operatorHash)) return "";
  const row = readToken.get(secret.split("_")[1] ?? "");
  return row && timingSafeEqual(hash, Buffer.from(row.hash, "hex")) ? row.session_id : undefined;
}

async function ask(request: Request, sessionId: string): Promise<Response> {
  const { id: rpcId, params } = (await request.json()) as { id: number; params: { arguments: unknown } };
  const asked = OperatorPermitInput.parse(params.arguments);
  const input = JSON.stringify(asked.input);
  const askHash = hashOf(asked.tool_name + input).toString("hex");
  const id = Bun.randomUUIDv7();
  const now = Date.now();
  const ended = Promise.withResolvers<void>();
  const body = new ReadableStream({
    type: "direct",
    async pull(controller: ReadableStreamDirectController) {
      controller.write(
        encoder.encode(
          `id: ${id}~${rpcId}\nretry: 10000\ndata: \n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n`,
        ),
      );
      void controller.flush();
      waiting.set(id, (approve, updatedInput) => {
        const text = approve
          ? `{"behavior":"allow","updatedInput":${updatedInput}}`
          : '{"behavior":"deny","message":"Denied."}';
        const result = { content: [{ type: "text", text }] };
        controller.write(
          encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: rpcId, result })}\n\n`),
        );
        void controller.close();
        ended.resolve();
      });
      await ended.promise;
    },
    cancel: () => {
      waiting.delete(id);
      ended.resolve();
    },
  });
  await commit(() => {
    insertApproval.run(
      id,
      sessionId,
      "child",
      sessionId,
      OWNER,
      asked.tool_name,
      asked.tool_use_id ?? null,
      input,
      askHash,
      now,
      now + TIMEOUT_MS,
    );
    insertChange.run("approval_requested", OWNER, sessionId, id, now);
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

async function respond(request: Request, id: string): Promise<Response> {
  const { approve } = Decision.parse(await request.json());
  const status = approve ? "allowed" : "denied";
  const now = Date.now();
  const settled = await commit(() => {
    const row = settle.get(status, now, OWNER, now, last.seq + 1, id);
    if (!row) return undefined;
    const entry = JSON.stringify({ kind: "decided", approval_id: id, status, tool: row.tool_name, decided_at: now });
    last = { seq: last.seq + 1, hash: hashOf(`${last.hash}\n${entry}`).toString("hex") };
    insertEntry.run(last.seq, id, now, entry, last.hash);
    insertChange.run("approval_resolved", OWNER, row.session_id, id, now);
    return row;
  });
  if (!settled) return Response.json({ error: { code: "not_found" } }, { status: 404 });
  waiting.get(id)?.(approve, settled.input);
  waiting.delete(id);
  return Response.json({ type: "ok", approval_id: id, status });
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch(request) {
    const caller = callerOf(request);
    if (caller === undefined) return new Response(null, { status: 401 });
    const { pathname } = new URL(request.url);
    if (pathname === "/mcp") return ask(request, caller);
    const id = /^\/api\/v1\/approvals\/([^/]+)\/respond$/.exec(pathname)?.[1];
    return id && caller === "" ? respond(request, id) : new Response(null, { status: 404 });
  },
});

process.on("message", (message: unknown) => {
  const [command, argument] = Array.isArray(message) ? message : [];
  if (command === "children") process.send?.({ tokens: children(Number(argument)) });
  if (command === "processor") {
    const { user, system } = process.cpuUsage();
    process.send?.({ processorMs: (user + system) / 1000 });
  }
});
process.send?.({ port: server.port });

function children(count: number): string[] {
  const insertSession = db.query(
    "INSERT INTO sessions (id, name, owner, kind, created_at) VALUES (?, ?, ?, 'by_hand', 0)",
  );
  const insertToken = db.query(
    "INSERT INTO tokens (id, kind, session_id, hash, created_at) VALUES (?, 'child', ?, ?, 0)",
  );
  return db.transaction(() =>
    Array.from({ length: count }, () => {
      const sessionId = Bun.randomUUIDv7();
      const tokenId = sessionId.slice(-12);
      const secret = `plx_${tokenId}_${crypto.randomUUID()}`;
      insertSession.run(sessionId, sessionId, OWNER);
      insertToken.run(tokenId, sessionId, hashOf(secret).toString("hex"));
      return secret;
    }),
  )();
}
process.on("disconnect", () => process.exit());
