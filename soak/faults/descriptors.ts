import { join } from "node:path";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";
import { openConnections } from "./connections.ts";
import type { Finding } from "./finding.ts";
import { type Rig, startRig } from "./rig.ts";
import { scriptedWorker } from "./scripted-worker.ts";

const LIMIT = 80;
const NO_ANSWER_MS = 1_500;
const MAIN = join(import.meta.dir, "../../src/main.ts");

/** Opens more connections than the server has file descriptors. */
export async function noDescriptors(): Promise<Finding[]> {
  await using directory = await temporaryDirectory();
  const claude = scriptedWorker(directory.path, "exec sleep 600");
  await using rig = await startRig({
    args: ["--claude", claude],
    program: ["/bin/sh", "-c", `ulimit -n ${LIMIT}; exec "$0" "$@"`, process.execPath, MAIN],
  });
  await rig.call("claudecode_create", { name: "worker", working_dir: directory.path });
  await rig.call("claudecode_chat_async", { name: "worker", prompt: "work" });
  const waiting = await rig.ask();

  const half = `GET /healthz HTTP/1.1\r\nHost: ${new URL(rig.server.url).host}\r\n`;
  using crowd = await openConnections(rig.server.url, 3 * LIMIT, half);
  await until("the log to tell", () => linesOf(rig, "no file descriptors are left").length > 0);
  const unanswered = await rig
    .request("/healthz", { signal: AbortSignal.timeout(NO_ANSWER_MS), keepalive: false })
    .then(
      ({ status }) => `answered ${status}`,
      () => "no answer",
    );
  crowd[Symbol.dispose]();
  await until(
    "the server to answer again",
    async () => (await rig.request("/healthz").catch(() => undefined))?.status === 200,
  );

  const before = { allowed: await rig.allowed(), status: await rig.statusOf(waiting.id) };
  const { status: turn } = await rig.call("claudecode_poll", { name: "worker" });
  const decided = await rig.allow(waiting.id);
  const answer = await waiting.stream.answer();
  await rig.call("claudecode_cancel", { name: "worker" });
  const { status: end } = await rig.call("claudecode_poll", { name: "worker" });
  await until("the log to tell the end", () => linesOf(rig, "file descriptors are free again").length > 0);
  return [
    {
      promised: "the server lives, and says in one plain line what is wrong",
      happened: `a new call had ${unanswered} in ${NO_ANSWER_MS} ms; ${linesOf(rig, "no file descriptors are left").length} line`,
      kept: linesOf(rig, "no file descriptors are left").length === 1,
    },
    {
      promised: "nothing is allowed, and an ask that waits goes on waiting",
      happened: `${before.allowed} allowed, the ask is ${before.status}`,
      kept: before.allowed === 0 && before.status === "pending",
    },
    {
      promised: "a child that runs is not taken for dead",
      happened: `its turn is ${turn}, and ${end} when told`,
      kept: turn === "running" && end === "cancelled",
    },
    {
      promised: "once some are closed, all goes on without a restart",
      happened: `${decided.status}, the child is told ${answer}`,
      kept: decided.status === 200 && answer.includes('"behavior":"allow"'),
    },
  ];
}

function linesOf({ server }: Rig, words: string): string[] {
  return server.log.filter((line) => line.includes(words));
}
