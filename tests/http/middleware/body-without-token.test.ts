import { describe, expect, test } from "bun:test";
import { ErrorBody } from "../../../src/contract/refusals/errors.ts";
import { vitalsOf } from "../../support/processes/vitals.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { startServerProcess } from "../../support/server/server-process.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { expectRefusal } from "../support/callers.ts";
import { head, type RawAnswer, sendRaw } from "../support/raw-request.ts";

const MB = 1024 * 1024;
const SENDERS = 24;
/** Held in full, the bodies would be 768 MB. Memory that is not collected yet is not part of the promise. */
const MAX_GROWTH_MB = 250;
const SIGN_IN = "/api/v1/sign-in";

type Sender = { url: string; path: string; token?: string };

const headers = (token?: string) => ({
  "Content-Type": "application/json",
  ...(token && { Authorization: `Bearer ${token}` }),
});

function* withLength({ url, path, token }: Sender) {
  yield head(url, `POST ${path}`, { ...headers(token), "Content-Length": String(32 * MB) });
  for (let sent = 0; sent < 32; sent++) yield new Uint8Array(MB).fill(0x20);
}

function* chunked({ url, path, token }: Sender) {
  yield head(url, `POST ${path}`, { ...headers(token), "Transfer-Encoding": "chunked" });
  for (let sent = 0; sent < 32; sent++) {
    yield `${MB.toString(16)}\r\n`;
    yield new Uint8Array(MB).fill(0x20);
    yield "\r\n";
  }
  yield "0\r\n\r\n";
}

const code = ({ body }: RawAnswer) => ErrorBody.parse(JSON.parse(body)).error.code;

/** Sends a wrong code in a body of exactly this many bytes. */
function signIn(plexus: Plexus, bytes: number, init: { token?: string | null; chunked?: boolean } = {}) {
  const body = JSON.stringify({ code: "wrong" }).padEnd(bytes);
  return plexus.fetch(SIGN_IN, {
    method: "POST",
    token: init.token ?? null,
    headers: { "content-type": "application/json" },
    body: init.chunked ? new Blob([body]).stream() : body,
  });
}

describe("a body without a token", () => {
  test.each([
    { encoding: "Content-Length", chunked: false },
    { encoding: "chunks", chunked: true },
  ])("of 1 kB is read, and one of a byte more is 413, sent with $encoding", async ({ chunked }) => {
    await using plexus = await startPlexus();
    await expectRefusal(await signIn(plexus, 1024, { chunked }), 401, "unauthorized");
    const text = await expectRefusal(await signIn(plexus, 1025, { chunked }), 413, "payload_too_large");
    expect(text).toContain("without a valid token");
  });

  test("has the general limit with --auth none, as has a body with a token", async () => {
    await using open = await startPlexus({ flags: { auth: "none" } });
    await expectRefusal(await signIn(open, MB), 401, "unauthorized");
    await using closed = await startPlexus();
    await expectRefusal(await signIn(closed, MB, { token: OPERATOR_TOKEN }), 401, "unauthorized");
  });
});

describe(`${SENDERS} posts of 32 MB at once`, () => {
  test.each([
    { who: "without a token to sign in", path: SIGN_IN, refusal: { status: 413, code: "payload_too_large" } },
    { who: "without a token to /mcp", path: "/mcp", refusal: { status: 401, code: "unauthorized" } },
    { who: "with a wrong token to /mcp", path: "/mcp", token: "wrong", refusal: { status: 401, code: "unauthorized" } },
    {
      who: "with a wrong token to sign in",
      path: SIGN_IN,
      token: "wrong",
      refusal: { status: 401, code: "unauthorized" },
    },
  ])("$who are refused, and are not held in memory", async ({ path, token, refusal }) => {
    await using directory = await temporaryDirectory();
    await using server = await startServerProcess({ dataDir: directory.path });
    const sender = { url: server.url, path, ...(token && { token }) };
    for (const body of [withLength, chunked]) {
      const before = vitalsOf(server.pid).rssMb;
      let peak = before;
      function* watched() {
        for (const part of body(sender)) {
          peak = Math.max(peak, vitalsOf(server.pid).rssMb);
          yield part;
        }
      }
      const answers = await Promise.all(Array.from({ length: SENDERS }, () => sendRaw(server.url, watched())));
      peak = Math.max(peak, vitalsOf(server.pid).rssMb);
      expect(peak - before).toBeLessThan(MAX_GROWTH_MB);
      for (const answer of answers) expect({ status: answer.status, code: code(answer) }).toEqual(refusal);
    }
  });
});
