import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RespondResult } from "../../../src/contract/approvals/decision.ts";
import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { expectRefusal, namedToken } from "../support/callers.ts";
import { postLink, startLinked } from "./link.ts";

setDefaultTimeout(60_000);

const OPERATOR = { kind: "operator" } as const;

describe("a link", () => {
  test("shows its request with its dangers, and decides it once, recorded under its webhook's name", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const { approvalId, url, link, answer } = await linked.asked(plexus, { command: "sudo make" });
    expect(url).toStartWith(`${plexus.url}/link#`);
    const opened = await (await postLink(plexus, "open", { link })).json();
    expect(opened).toMatchObject({
      type: "ok",
      name: "phone",
      verdict: "any",
      approval: { id: approvalId, input: { command: "sudo make" }, dangers: [{ text: "runs as root (sudo)" }] },
    });
    const decided = await (await postLink(plexus, "decide", { link, approve: true })).json();
    expect(decided).toEqual({ type: "ok", approval_id: approvalId, status: "allowed" });
    expect(await answer()).toMatchObject({ behavior: "allow" });
    expect(await plexus.app.approvals.get(OPERATOR, approvalId)).toMatchObject({
      status: "allowed",
      resolved_by: "link:phone",
    });
    const trail = await (await plexus.fetch("/api/v1/audit/export")).text();
    expect(trail).toContain("link:phone");
    const again = await (await postLink(plexus, "decide", { link, approve: false })).json();
    expect(again).toMatchObject({ type: "already_resolved", status: "allowed", resolved_by: "link:phone" });
    expect(await (await postLink(plexus, "open", { link })).json()).toEqual(again);
  });

  test("denies with a reason that the child gets", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const { link, answer } = await linked.asked(plexus);
    await postLink(plexus, "decide", { link, approve: false, message: "not on a Friday" });
    expect(await answer()).toMatchObject({ behavior: "deny", message: expect.stringContaining("not on a Friday") });
  });

  test("decides nothing when it is fetched with any method", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const { approvalId, link, url } = await linked.asked(plexus);
    for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"])
      for (const path of ["/link", `/link?${link}`, "/api/v1/links/open", "/api/v1/links/decide"])
        await plexus.fetch(path, { method, token: null });
    await fetch(url);
    expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
    expect((await postLink(plexus, "decide", { link, approve: true })).status).toBe(200);
  });

  test("decides nothing after somebody else has, and says who it was", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    for (let round = 0; round < 10; round++) {
      const { approvalId, link } = await linked.asked(plexus);
      const press = async (approve: boolean) =>
        RespondResult.parse(await (await postLink(plexus, "decide", { link, approve })).json());
      const results = await Promise.all([
        press(true),
        press(false),
        plexus.app.approvals.decide(OPERATOR, approvalId, { approve: false }),
      ]);
      expect(results.filter(({ type }) => type === "ok")).toHaveLength(1);
      const { resolved_by } = await plexus.app.approvals.get(OPERATOR, approvalId);
      for (const result of results) if (result.type !== "ok") expect(result.resolved_by).toBe(resolved_by ?? "");
    }
  });

  test("can be limited by its webhook to denying, or to allowing", async () => {
    await using linked = await startLinked();
    for (const [verdict, may] of [
      ["deny", false],
      ["allow", true],
    ] as const) {
      await using plexus = await linked.start({ options: `#decide=${verdict}` });
      const { approvalId, link } = await linked.asked(plexus);
      expect(await (await postLink(plexus, "open", { link })).json()).toMatchObject({ verdict });
      await expectRefusal(await postLink(plexus, "decide", { link, approve: !may }), 404, "not_found");
      expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
      expect(await (await postLink(plexus, "decide", { link, approve: may })).json()).toMatchObject({ type: "ok" });
    }
  });

  test("is sent only if the operator enabled it, and never for a question", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start({ options: "" });
    await using other = await startLinked();
    await using deciding = await other.start();
    const session = await plexus.app.sessions.createByHand(OPERATOR);
    await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
    const asking = await deciding.app.sessions.createByHand(OPERATOR);
    await deciding.app.approvals.request(asking, {
      tool_name: "AskUserQuestion",
      input: { questions: [{ question: "Which?", options: [{ label: "a" }] }] },
    });
    for (const { receiver } of [linked, other]) {
      const [one] = await until("the request", () => receiver.received.length === 1 && receiver.received);
      expect(one?.text).not.toContain("decide_url");
    }
  });
});

describe("a link that has ended", () => {
  test("is revoked when its webhook is removed, or may decide less", async () => {
    await using linked = await startLinked();
    const links: { link: string; approvalId: string }[] = [];
    {
      await using plexus = await linked.start();
      links.push(await linked.asked(plexus));
    }
    for (const options of ["", "#name=phone&decide=deny"]) {
      await using plexus = await linked.start({ options });
      for (const { link, approvalId } of links) {
        await expectRefusal(await postLink(plexus, "open", { link }), 404, "not_found");
        await expectRefusal(await postLink(plexus, "decide", { link, approve: true }), 404, "not_found");
        expect((await plexus.app.approvals.get(OPERATOR, approvalId)).resolved_by).not.toBe("link:phone");
      }
    }
  });

  test("times out with its request: using it then decides nothing, and says so", async () => {
    let at = Date.now();
    await using linked = await startLinked();
    await using plexus = await linked.start({ clocks: { now: () => at, elapsed: () => performance.now() } });
    const { link } = await linked.asked(plexus);
    at += 301_000;
    expect(await (await postLink(plexus, "decide", { link, approve: true })).json()).toMatchObject({
      type: "already_resolved",
      status: "timed_out",
    });
  });

  test("expires after a day, however long its request may wait", async () => {
    let at = Date.now();
    await using linked = await startLinked();
    await using plexus = await linked.start({
      flags: { approvalTimeoutSecs: "604800" },
      clocks: { now: () => at, elapsed: () => performance.now() },
    });
    const { approvalId, link } = await linked.asked(plexus);
    at += 24 * 60 * 60_000;
    await expectRefusal(await postLink(plexus, "open", { link }), 404, "not_found");
    await expectRefusal(await postLink(plexus, "decide", { link, approve: true }), 404, "not_found");
    expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
  });
});

describe("after a restart", () => {
  test("a link still opens its request, and a repeated message has the same link", async () => {
    await using linked = await startLinked();
    linked.receiver.answer = () => new Response(null, { status: 503 });
    let before: { link: string; approvalId: string };
    {
      await using plexus = await linked.start({ clocks: { webhookRetryMs: 1 } });
      before = await linked.asked(plexus);
    }
    linked.receiver.received.length = 0;
    linked.receiver.answer = () => new Response();
    await using plexus = await linked.start();
    const { text } = await until("the message again", () => linked.receiver.received.at(-1));
    expect(new URL(JSON.parse(text).decide_url).hash.slice(1)).toBe(before.link);
    expect(await (await postLink(plexus, "decide", { link: before.link, approve: false })).json()).toMatchObject({
      type: "ok",
      approval_id: before.approvalId,
    });
  });
});

describe("an attacker of links", () => {
  test("learns nothing from guesses, is slowed down, and never blocks a valid link", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const [one, other] = [await linked.asked(plexus), await linked.asked(plexus)];
    const [id = "", secret = ""] = one.link.split(".");
    const [otherId = ""] = other.link.split(".");
    const guesses = [`${id}.${"A".repeat(43)}`, `${otherId}.${secret}`, `${"A".repeat(12)}.${secret}`];
    const answers = new Set<string>();
    for (const link of guesses) {
      answers.add(await expectRefusal(await postLink(plexus, "open", { link }), 404, "not_found"));
      answers.add(await expectRefusal(await postLink(plexus, "decide", { link, approve: true }), 404, "not_found"));
    }
    expect(answers.size).toBe(1);
    for (const link of ["", id, `${id}.`, `${id}.${secret}x`, `${id}.${secret.slice(1)}`, { a: 1 }, null])
      await expectRefusal(await postLink(plexus, "decide", { link, approve: true }), 422, "invalid_arguments");
    const statuses = await Promise.all(
      Array.from({ length: 120 }, async () => (await postLink(plexus, "open", { link: guesses[0] })).status),
    );
    expect(statuses).toContain(429);
    for (const { approvalId } of [one, other])
      expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
    expect((await postLink(plexus, "decide", { link: one.link, approve: true })).status).toBe(200);
  });

  test("is refused as a child, from another origin, under another host name, and with a large body", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const { approvalId, link, token } = await linked.asked(plexus);
    const body = { link, approve: true };
    await expectRefusal(await postLink(plexus, "decide", body, { token }), 403, "forbidden");
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { host: "evil.example" }])
      await expectRefusal(await postLink(plexus, "decide", body, { headers }), 403, "forbidden");
    const large = { ...body, message: "x".repeat(2_000) };
    await expectRefusal(await postLink(plexus, "decide", large), 413, "payload_too_large");
    const form = { headers: { "content-type": "text/plain" } };
    await expectRefusal(await postLink(plexus, "decide", body, form), 400, "invalid_json");
    await expectRefusal(await postLink(plexus, "decide", { ...body, updated_input: {} }), 422, "invalid_arguments");
    expect((await plexus.app.approvals.get(OPERATOR, approvalId)).status).toBe("pending");
  });

  test("finds no link in the log, the events, the API, the database or the data dir", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const { approvalId, link } = await linked.asked(plexus);
    const [, secret = ""] = link.split(".");
    await postLink(plexus, "open", { link });
    await postLink(plexus, "decide", { link, approve: true });
    const { token } = await namedToken(plexus, "reader");
    const paths = [`/api/v1/approvals/${approvalId}`, "/api/v1/approvals", "/metrics", "/api/v1/audit/export"];
    const shown = await Promise.all(
      paths.map(async (path) => (await plexus.fetch(path, { token: OPERATOR_TOKEN })).text()),
    );
    expect(shown.concat(plexus.log, token).join("\n")).not.toContain(secret);
    for (const file of readdirSync(linked.dataDir, { withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(linked.dataDir, file.name)).includes(secret)).toBe(false);
    expect(shown[2]).toContain('plexus_links_total{use="decided"} 1');
  });
});

describe("the page of a link", () => {
  test("contains only code, sends no referrer, and can't be framed", async () => {
    await using linked = await startLinked();
    await using plexus = await linked.start();
    const response = await plexus.fetch("/link", { token: null });
    expect(response.status).toBe(200);
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(await response.text()).not.toContain("plx_");
  });
});
