import { describe, expect, test } from "bun:test";
import { createUpdates } from "../../../src/outbound/updates/updates.ts";

const DAY_MS = 24 * 60 * 60_000;
const START = 1_800_000_000_000;

/** A source of versions that counts its requests. */
function startSource(answer: () => Response) {
  let asked = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      asked++;
      return answer();
    },
  });
  const url = `http://127.0.0.1:${server.port}/latest`;
  return { url, asked: () => asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function newest(answer: () => Response, running = "1.2.3") {
  await using source = startSource(answer);
  return await createUpdates({ source: source.url, now: () => START }).newest(running);
}

describe("whether there is a newer version", () => {
  test("is not requested anywhere without a source", async () => {
    expect(await createUpdates({ source: undefined, now: Date.now }).newest("1.2.3")).toEqual({ state: "not_asked" });
  });

  test.each([
    ["a release of a code host", () => Response.json({ tag_name: "v1.10.0", body: "…" }), "1.10.0", true],
    ["a JSON object with a version", () => Response.json({ version: "1.2.3" }), "1.2.3", false],
    ["plain text", () => new Response("1.2.2\n"), "1.2.2", false],
    ["one that comes before a release", () => new Response("v1.2.4-rc.1"), "1.2.4-rc.1", true],
  ] as const)("is read in %s", async (_, answer, version, is_newer) => {
    expect(await newest(answer)).toEqual({ state: "known", version, is_newer, checked_at: START / 1000 });
  });

  test.each([
    ["is no version", () => new Response("<html>1.2.4</html>")],
    ["is a failure", () => new Response("9.9.9", { status: 404 })],
    ["is JSON of something else", () => Response.json(["9.9.9"])],
    ["is broken JSON", () => new Response("{")],
    ["leads elsewhere", () => Response.redirect("https://elsewhere.example/latest")],
    ["has no end", () => new Response("9".repeat(300_000))],
  ] as const)("is not known where the answer %s", async (_, answer) => {
    expect(await newest(answer)).toEqual({ state: "unknown", checked_at: START / 1000 });
  });

  test("is requested at most once a day, and ten minutes after a failure", async () => {
    let now = START;
    let isUp = false;
    await using source = startSource(() => new Response("2.0.0", { status: isUp ? 200 : 500 }));
    const updates = createUpdates({ source: source.url, now: () => now });
    await Promise.all([updates.newest("1.0.0"), updates.newest("1.0.0")]);
    await updates.newest("1.0.0");
    expect(source.asked()).toBe(1);
    isUp = true;
    now += 11 * 60_000;
    expect(await updates.newest("1.0.0")).toMatchObject({ state: "known", is_newer: true });
    now += DAY_MS - 1;
    await updates.newest("1.0.0");
    expect(source.asked()).toBe(2);
    now += 1;
    await updates.newest("1.0.0");
    expect(source.asked()).toBe(3);
  });
});
