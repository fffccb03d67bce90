import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ApprovalList } from "../../../src/contract/routes/approvals.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { ask, expectRefusal, namedToken, sessionOf } from "../support/callers.ts";

const OPERATOR = { kind: "operator" } as const;
const MANY = 50_000;
/** They share the time that one search may take, so that none comes to the end of what there is. */
const SEARCHES = 6;

async function page(plexus: Plexus, query: Record<string, string>, token?: string) {
  const response = await plexus.fetch(`/api/v1/approvals?${new URLSearchParams(query)}`, token ? { token } : {});
  expect(response.status).toBe(200);
  return ApprovalList.parse(await response.json());
}

/** The ids of all matches, through as many pages as needed. */
async function found(plexus: Plexus, query: Record<string, string>, token?: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const next: Awaited<ReturnType<typeof page>> = await page(plexus, cursor ? { ...query, cursor } : query, token);
    ids.push(...next.approvals.map(({ id }) => id));
    cursor = next.cursor;
  } while (cursor !== null);
  return ids;
}

describe("GET /api/v1/approvals of decisions", () => {
  test("lists them by decision time, and finds them by text and time", async () => {
    await using plexus = await startPlexus();
    const { session } = await sessionOf(plexus, OPERATOR);
    const first = await ask(plexus, session, { input: { command: "make first" } });
    const second = await ask(plexus, session, { input: { command: "make second" } });
    for (const { approvalId } of [second, first]) {
      await plexus.app.approvals.decide(OPERATOR, approvalId, { approve: false, message: `no ${approvalId}` });
      await nextMillisecond();
    }
    const ids = [first.approvalId, second.approvalId];
    expect(await found(plexus, { status: "resolved" })).toEqual(ids);
    expect(await found(plexus, { status: "resolved", limit: "1" })).toEqual(ids);
    expect(await found(plexus, { search: "MAKE SECOND" })).toEqual([second.approvalId]);
    expect(await found(plexus, { search: `no ${first.approvalId}` })).toEqual([first.approvalId]);
    const now = Math.floor(Date.now() / 1000);
    expect(await found(plexus, { until: String(now - 3600) })).toEqual([]);
    expect(await found(plexus, { since: String(now - 3600), until: String(now + 3600) })).toEqual(ids);
    const { token } = await namedToken(plexus, "stranger");
    expect(await found(plexus, { search: "make" }, token)).toEqual([]);
  });

  test("refuses to search pending approvals, and a cursor of another list", async () => {
    await using plexus = await startPlexus();
    const refusal = async (query: string) =>
      expectRefusal(await plexus.fetch(`/api/v1/approvals?${query}`), 422, "invalid_arguments");
    await refusal("status=pending&search=x");
    await refusal("status=resolved&cursor=0190d1f6-0000-7000-8000-000000000000");
    await refusal(`search=${"x".repeat(201)}`);
  });

  test("searches many decisions without blocking other requests, and says how far it came", async () => {
    await using plexus = await startPlexus();
    storeDecisions(plexus.dataDir, MANY);
    let isSearching = true;
    const searches = Array.from({ length: SEARCHES }, () => page(plexus, { search: "nowhere" }));
    const searched = Promise.all(searches).finally(() => {
      isSearching = false;
    });
    let answeredMeanwhile = 0;
    while (isSearching) {
      await plexus.fetch("/healthz", { token: null });
      answeredMeanwhile++;
    }
    // The first answer may have been on its way already; a search in one step would let no other request in.
    expect(answeredMeanwhile).toBeGreaterThan(2);
    for (const { approvals, has_more, searched_back_to } of await searched) {
      expect({ approvals, has_more }).toEqual({ approvals: [], has_more: true });
      expect(searched_back_to).toBeGreaterThan(0);
    }
    expect(await found(plexus, { search: "part 7 " })).toEqual([idOf(7)]);
  });
});

/** Waits for the next millisecond: decisions of one millisecond are listed in filing order. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  await until("the next millisecond", () => Date.now() > now);
}

function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** Stores decisions one second apart, the latest first. */
function storeDecisions(dataDir: string, count: number): void {
  using sqlite = new Database(join(dataDir, "plexus.db"));
  sqlite
    .query(
      `INSERT INTO loopback_approvals (id, session_id, session_name, owner, tool_name, input, ask_hash, status, created_at,
         expires_at, resolved_at, resolved_by)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       SELECT printf('00000000-0000-7000-8000-%012d', i), 's', 'old', 'operator', 'Bash',
         json_object('command', 'make part ' || i || ' of it'), '', 'allowed', 0, 0, i * 1000, 'operator' FROM n`,
    )
    .run(count);
}
