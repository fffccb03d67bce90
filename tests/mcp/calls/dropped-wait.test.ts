import { expect, setDefaultTimeout, test } from "bun:test";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { postModern } from "../../support/mcp/modern-mcp.ts";
import { post, type RawStream } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const token = OPERATOR_TOKEN;
const WAIT = "loopback_wait";

/** How to call a wait in each revision of MCP. */
const revisions: [string, (url: string, args: object) => Promise<RawStream>][] = [
  [
    "2025-11-25",
    (url, args) => {
      const params = { name: WAIT, arguments: args };
      return post(url, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { token });
    },
  ],
  ["2026-07-28", (url, args) => postModern(url, "tools/call", { name: WAIT, arguments: { ...args } }, { token })],
];

/** The signals of waits that begin from now on. Each fires when its caller is gone. */
function watchWaits({ app: { eventFeed } }: Plexus): AbortSignal[] {
  const signals: AbortSignal[] = [];
  const { wait } = eventFeed;
  Object.assign(eventFeed, {
    wait: (...[principal, options]: Parameters<typeof wait>) => {
      signals.push(options.signal);
      return wait(principal, options);
    },
  });
  return signals;
}

test.each(revisions)(
  "an end whose reader was cut off is told to it at its next call, and to another reader at once, in %s",
  async (_, call) => {
    await using directory = await temporaryDirectory();
    await using plexus = await startPlexus({ flags: { claude: writeEcho(directory.path) } });
    const parent = await plexus.connect();
    await parent.call("claudecode_create", { name: "worker", working_dir: directory.path });
    await parent.call("claudecode_chat_async", { name: "worker", prompt: "hang" });
    const endsIn = async (stream: RawStream) => {
      const { result } = await stream.response();
      const { finished = [] } = Object(result?.structuredContent);
      return finished.map(({ name }: { name: string }) => name);
    };

    const signals = watchWaits(plexus);
    const cutOff = call(plexus.url, { consumer: "a", timeout_secs: 60 });
    await until("the first wait", () => signals.length === 1);
    const other = call(plexus.url, { consumer: "b", timeout_secs: 60 });
    await until("the second wait", () => signals.length === 2);
    (await cutOff).disconnect();
    await until("the server to notice", () => signals[0]?.aborted);
    await parent.call("claudecode_cancel", { name: "worker" });

    expect(await endsIn(await other)).toEqual(["worker"]);
    expect(await endsIn(await call(plexus.url, { consumer: "a" }))).toEqual(["worker"]);
    for (const consumer of ["a", "b"]) expect(await endsIn(await call(plexus.url, { consumer }))).toEqual([]);
  },
);
