import { startPlexus } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

export const OPERATOR = { kind: "operator" } as const;
export const TIMED_OUT = "Approval timed out: nobody decided within 300 seconds. The tool was not run.";
export const ARGS = { tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_1" };

/** A server with a session `worker`, its child and a decider; the test moves the clock. */
export async function supervised() {
  await using stack = new AsyncDisposableStack();
  let now = Date.now();
  const plexus = stack.use(await startPlexus({ clocks: { now: () => now, rereadEveryMs: 10 } }));
  const worker = await plexus.child("worker");
  const child = await plexus.connect(worker.token);
  const parent = await plexus.connect();
  const owned = stack.move();
  return {
    plexus,
    parent,
    worker,
    child,
    pass: (seconds: number) => {
      now += seconds * 1000;
    },
    /** The child asks; the request is stored when this returns, and `answered` is the child's answer. */
    async ask(args: object = ARGS) {
      const pending = async () => {
        const { approvals } = await plexus.app.approvals.pending(OPERATOR, undefined, 10);
        return approvals.map((approval) => approval.id);
      };
      const before = await pending();
      const answered = child.call("loopback_permit", args);
      answered.catch(() => {});
      const id = await until("the ask", async () => (await pending()).find((candidate) => !before.includes(candidate)));
      return { id, answered };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
