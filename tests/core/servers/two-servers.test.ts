import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal } from "../../../src/app.ts";
import { PermitInput } from "../../../src/contract/approvals/approval.ts";
import { connect } from "../../../src/storage/sqlite/database.ts";
import { openDirect } from "../../storage/sqlite/support/direct.ts";
import { writeStandIn } from "../../support/claude/stand-in.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { temporaryDataDir } from "../../support/temporary-data-dir.ts";
import { until } from "../../support/until.ts";

const OPERATOR: Principal = { kind: "operator" };
const ALLOW = { approve: true };
const BASH = PermitInput.parse({ tool_name: "Bash", input: { command: "touch x" }, tool_use_id: "toolu_1" });
const LONG_MS = 60_000;
const NEVER_MS = 3_600_000;
const never = new AbortController().signal;
const WORDS = JSON.stringify({
  type: "assistant",
  message: { id: "msg_1", role: "assistant", content: [{ type: "text", text: "words" }] },
  session_id: "6c1a6b0e-5f0b-4d0e-9d0f-2f1a1c3b5a77",
});

type ServerClocks = { abandonAfterMs?: number; leaseMs?: number; renewEveryMs?: number };

/** Two whole servers on one database, which learn of each other's changes by re-reading. */
async function twoServers(ofFirst: ServerClocks = {}, ofSecond: ServerClocks = {}) {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await temporaryDataDir());
  const { path: workingDir } = stack.use(await temporaryDirectory());
  const claude = writeStandIn(
    workingDir,
    `read -r _; while [ ! -e "${workingDir}/speak" ]; do sleep 0.02; done; echo '${WORDS}'; sleep 600`,
  );
  const open = (dataDirId: string, clocks: ServerClocks) =>
    startPlexus({
      dataDir,
      flags: { claude },
      clocks: { rereadEveryMs: 20, abandonAfterMs: 50, ...clocks },
      openStorage: (path, onCommitted, now = Date.now) =>
        connect(path, { onCommitted, now, isAlone: false, dataDirId }),
    });
  const first = stack.use(await open("first", ofFirst));
  const second = stack.use(await open("second", ofSecond));
  const owned = stack.move();
  return { first, second, dataDir, workingDir, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function asked({ app }: Plexus, name = "child") {
  return app.approvals.request(await app.sessions.openByHand(OPERATOR, name), BASH);
}

test("a request held by one server is decided once on the other, and its child gets the answer", async () => {
  await using servers = await twoServers();
  using waiting = await asked(servers.first);
  const decided = await servers.second.app.approvals.decide(OPERATOR, waiting.approvalId, ALLOW);
  expect(decided).toMatchObject({ type: "ok", status: "allowed" });
  expect(await waiting.answer()).toMatchObject({ behavior: "allow" });
  const again = await servers.first.app.approvals.decide(OPERATOR, waiting.approvalId, ALLOW);
  expect(again).toMatchObject({ type: "already_resolved", status: "allowed" });
});

test("waits and streams on one server get the other's changes, in order", async () => {
  await using servers = await twoServers();
  const { eventFeed } = servers.second.app;
  const stop = new AbortController();
  const told: string[] = [];
  const following = (async () => {
    for await (const { event } of eventFeed.follow(OPERATOR, 0, stop.signal)) told.push(event.type);
  })();
  // Without a session that could ask, the wait would be idle.
  await servers.first.app.sessions.openByHand(OPERATOR, "child");
  const waited = eventFeed.wait(OPERATOR, { timeoutMs: LONG_MS, limit: 10, signal: never });
  using one = await asked(servers.first, "one");
  expect(await waited).toMatchObject({ approvals: [{ id: one.approvalId }] });
  await servers.second.app.approvals.decide(OPERATOR, one.approvalId, ALLOW);
  using two = await asked(servers.first, "two");
  await servers.second.app.approvals.decide(OPERATOR, two.approvalId, ALLOW);
  await until("all four to be told", () => told.length === 4);
  expect(told).toEqual(["approval_requested", "approval_resolved", "approval_requested", "approval_resolved"]);
  stop.abort();
  await following;
});

test("a child that loses one server is taken over by the other, and its request stays pending", async () => {
  await using servers = await twoServers();
  const waiting = await asked(servers.first);
  const child = {
    kind: "session",
    sessionId: (await servers.first.app.sessions.require(OPERATOR, "child")).id,
  } as const;
  waiting[Symbol.dispose]();
  const resumed = await servers.second.app.approvals.resume(child, waiting);
  if (!resumed) throw new Error("it was not resumed");
  using lost = await asked(servers.first, "lost");
  lost[Symbol.dispose]();
  const { approvals } = servers.first.app;
  await until("the other request to be given up", async () => {
    return (await approvals.get(OPERATOR, lost.approvalId)).status === "abandoned";
  });
  expect((await approvals.get(OPERATOR, waiting.approvalId)).status).toBe("pending");
  await approvals.decide(OPERATOR, waiting.approvalId, ALLOW);
  expect(await resumed.answer()).toMatchObject({ behavior: "allow" });
  resumed[Symbol.dispose]();
});

test("a server's requests stay its own while its lease lasts, even if the other re-reads", async () => {
  await using servers = await twoServers();
  using waiting = await asked(servers.first);
  using lost = await asked(servers.second, "lost");
  lost[Symbol.dispose]();
  const { approvals } = servers.second.app;
  await until("its own to be given up", async () => {
    return (await approvals.get(OPERATOR, lost.approvalId)).status === "abandoned";
  });
  expect((await approvals.get(OPERATOR, waiting.approvalId)).status).toBe("pending");
});

test("the requests of a server whose lease expired are abandoned by the other if no child comes back", async () => {
  await using servers = await twoServers({ leaseMs: 10, renewEveryMs: NEVER_MS });
  using waiting = await asked(servers.first);
  await until("the other server to give it up", async () => {
    const { status } = await servers.second.app.approvals.get(OPERATOR, waiting.approvalId);
    return status === "abandoned";
  });
  expect(await waiting.answer()).toMatchObject({ behavior: "deny" });
});

test("a server whose lease expired holds the requests of its open connections again", async () => {
  await using servers = await twoServers({ leaseMs: 10, renewEveryMs: 200 }, { abandonAfterMs: NEVER_MS });
  using direct = openDirect(servers.dataDir);
  using waiting = await asked(servers.first);
  const holder = () => direct.approvals.get(waiting.approvalId)?.heldBy;
  const first = holder();
  await until("the other server to take it over", () => holder() !== first);
  await until("the first one to take it back", () => holder() === first);
  await servers.second.app.approvals.decide(OPERATOR, waiting.approvalId, ALLOW);
  expect(await waiting.answer()).toMatchObject({ behavior: "allow" });
});

test("the requests of a server that stops are taken over before its lease expires", async () => {
  await using servers = await twoServers();
  using waiting = await asked(servers.first);
  const { approvalId } = waiting;
  await servers.first[Symbol.asyncDispose]();
  await until("the other server to give it up", async () => {
    return (await servers.second.app.approvals.get(OPERATOR, approvalId)).status === "abandoned";
  });
});

test("a turn of one server is cancelled on the other, which answers when the turn has ended", async () => {
  await using servers = await twoServers();
  const session = await servers.first.app.sessionCommands.create(OPERATOR, {
    name: "worker",
    working_dir: servers.workingDir,
    loopback_enabled: false,
  });
  await servers.first.app.sessionCommands.start(session, { prompt: "work" });
  const polled = servers.second.app.polls.poll(session, {
    consumer: "",
    limit: 10,
    waitMs: LONG_MS,
    signal: never,
    isEnough: ({ status }) => status === "cancelled",
  });
  expect(await servers.second.app.sessionCommands.cancel(session)).toMatchObject({ type: "cancelled" });
  expect(await servers.first.app.polls.statusOfSession(session.id)).toBe("cancelled");
  expect((await polled).status).toBe("cancelled");
  expect(await servers.second.app.sessionCommands.cancel(session)).toMatchObject({ type: "not_running" });
});

test("a poll on one server gets the words of the other's child, although words make no change", async () => {
  await using servers = await twoServers();
  const asked = { name: "worker", working_dir: servers.workingDir, loopback_enabled: false };
  const session = await servers.first.app.sessionCommands.create(OPERATOR, asked);
  await servers.first.app.sessionCommands.start(session, { prompt: "work" });
  const polled = servers.second.app.polls.poll(session, {
    consumer: "",
    limit: 100,
    waitMs: LONG_MS,
    signal: never,
    isEnough: ({ events }) => events.some(({ event }) => event.type === "content"),
  });
  writeFileSync(join(servers.workingDir, "speak"), "");
  expect((await polled).events.at(-1)).toMatchObject({ event: { type: "content", text: "words" } });
});

test("streams of a token on one server end when it is revoked on the other", async () => {
  await using servers = await twoServers();
  const { id, name } = await servers.first.app.tokens.createNamed("agent");
  const principal = { kind: "token", id, name } as const;
  const revocation = await servers.first.app.tokens.revocation({ principal });
  await servers.second.app.tokens.revoke(name);
  await until("its streams to end", () => revocation.aborted);
});

test("a token revoked on one server commits nothing more on the other, which has not read of it yet", async () => {
  await using servers = await twoServers();
  const { app } = servers.first;
  const { id, name } = await app.tokens.createNamed("agent");
  const principal = { kind: "token", id, name } as const;
  const session = await app.sessionCommands.create(principal, { name: "own", working_dir: servers.workingDir });
  using waiting = await app.approvals.request(await app.sessions.createByHand(principal), BASH);
  await servers.second.app.tokens.revoke(name);
  const refused = [
    app.approvals.decide(principal, waiting.approvalId, ALLOW),
    app.sessionCommands.create(principal, { name: "other", working_dir: servers.workingDir }),
    app.sessionCommands.configure(principal, {}),
    app.sessions.fork(principal, session, "fork"),
    app.sessionCommands.update(principal, session, { model: "opus" }),
    app.sessionCommands.remove(principal, session),
    app.tokens.createForChild(session.id, principal),
    app.signIn.newCode(principal),
  ];
  const outcomes = await Promise.allSettled(refused);
  const codes = outcomes.map((one) => (one.status === "rejected" ? one.reason.code : one.value));
  expect(codes).toEqual(refused.map(() => "unauthorized"));
  expect((await app.approvals.get(OPERATOR, waiting.approvalId)).status).toBe("pending");
});

test("a page signed out on one server decides nothing more on the other", async () => {
  await using servers = await twoServers();
  const { app } = servers.first;
  const page = await app.signIn.redeem((await app.signIn.newCode({ kind: "operator" })).code);
  const holder = await app.tokens.identify(page?.token ?? "");
  using waiting = await asked(servers.first);
  await servers.second.app.signIn.endAll();
  const decided = app.approvals.decide(holder?.principal ?? OPERATOR, waiting.approvalId, ALLOW);
  await expect(decided).rejects.toMatchObject({ code: "unauthorized" });
});
