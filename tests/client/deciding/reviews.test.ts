import { describe, expect, test } from "bun:test";
import { createApi } from "../../../src/client/api.ts";
import { createReviews, editedReview } from "../../../src/client/deciding/reviews.ts";
import { allPending } from "../../../src/client/pending.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";
import { approval } from "../requests.ts";

const words = { unreachable: () => "away", noPlexus: () => "no Plexus", otherVersion: () => "another version" };

/** A client of a real server; `seen` records the requested paths. */
function apiOf(plexus: Plexus, seen: string[] = []) {
  return createApi({
    server: () => ({ url: plexus.url, token: OPERATOR_TOKEN }),
    fetch: (url, init) => {
      seen.push(new URL(url).pathname);
      return fetch(url, init);
    },
    words,
  });
}

async function request(plexus: Plexus, command: string): Promise<string> {
  const { token } = await plexus.child();
  const client = await plexus.connect(token);
  client
    .call("loopback_permit", { tool_name: "Bash", input: { command }, tool_use_id: "toolu_1" })
    .catch(() => undefined);
  const pending = async () => (await allPending(apiOf(plexus)))[0]?.id;
  return until("the request to be filed", pending);
}

describe("the review of a request", () => {
  test("has the complete input and its dangers, and is read once", async () => {
    await using plexus = await startPlexus();
    const id = await request(plexus, "rm -rf build");
    const seen: string[] = [];
    const reviews = createReviews({ api: apiOf(plexus, seen) });
    let changes = 0;
    reviews.onChange(() => changes++);
    const cut = { ...approval(1), id, input: {} };
    const [review] = await Promise.all([reviews.review(cut), reviews.review(cut)]);
    expect(review.approval.input).toEqual({ command: "rm -rf build" });
    expect(review.dangers.map(({ rule }) => rule)).toContain("delete");
    expect(reviews.known(id)).toBe(review);
    expect({ changes, asked: seen.length }).toEqual({ changes: 1, asked: 2 });
  });

  test("counts as dangerous, and is read again, if something could not be read", async () => {
    await using plexus = await startPlexus();
    const reviews = createReviews({ api: apiOf(plexus) });
    const review = await reviews.review(approval(1));
    expect(review).toMatchObject({ context: undefined, dangers: [{ rule: "unreadable" }] });
    expect(reviews.known(approval(1).id)).toBeUndefined();
  });

  test("is read again after a read failed because of a bug", async () => {
    await using plexus = await startPlexus();
    const id = await request(plexus, "make");
    const api = apiOf(plexus);
    let failures = 1;
    const call: typeof api.call = async (...sent) => {
      if (failures-- > 0) throw new TypeError("a bug");
      return api.call(...sent);
    };
    const reviews = createReviews({ api: { ...api, call } });
    const cut = { ...approval(1), id };
    await expect(reviews.review(cut)).rejects.toThrow("a bug");
    expect((await reviews.review(cut)).approval.input).toEqual({ command: "make" });
  });

  test("is built anew for an edited input, without the context of another file", async () => {
    const file = { state: "text", path: "/srv/a", text: "old" } as const;
    const context = { working_dir: "/work", file, real_path: "/srv/a", plan: null, skill: null };
    const write = { ...approval(1), tool_name: "Write", input: { file_path: "/srv/a", content: "new" } };
    const review = { approval: write, context, dangers: [] };
    const same = editedReview(review, { file_path: "/srv/a", content: "newer" });
    const other = editedReview(review, { file_path: "/etc/passwd", content: "new" });
    expect(same.context).toEqual(context);
    expect(other.context).toEqual({ ...context, file: null, real_path: null });
    expect(other.dangers.length).toBeGreaterThan(same.dangers.length);
  });

  test("is built anew for an edited command, with unknown real paths for new files", () => {
    const links = [{ path: "/srv/project/pw", real: "/etc/passwd" }];
    const context = { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null, links };
    const review = { approval: { ...approval(1), input: { command: "cat a; touch pw" } }, context, dangers: [] };
    const dangers = (command: string) => editedReview(review, { command }).dangers.map(({ message }) => message);
    const known = "changes /etc/passwd, outside the working directory";
    expect(dangers("touch pw")).toEqual([known]);
    expect(dangers("ls -l; cat b")).toEqual([]);
    expect(dangers("touch a")).toEqual([]);
    expect(dangers("touch b")).toEqual(["names b, and where that leads is not known"]);
    expect(dangers("touch pw b 2>/dev/null").sort()).toEqual([known, "names b, and where that leads is not known"]);
  });
});
