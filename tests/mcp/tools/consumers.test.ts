import { expect, setDefaultTimeout, test } from "bun:test";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

test("a parent with a consumer name gets each end once, by any tool and over any number of connections", async () => {
  await using directory = await temporaryDirectory();
  await using plexus = await startPlexus({ flags: { claude: writeEcho(directory.path) } });
  const { token } = await plexus.app.tokens.createNamed("agent");
  const work = { working_dir: directory.path, consumer: "boss" };
  /** A call by a new client. */
  const anew = async (tool: string, args: object) => (await (await plexus.connect(token)).call(tool, args)).value;
  const finishedIn = (value: object) => {
    const wait = Object("wait" in value ? value.wait : value);
    return (wait.finished ?? []).map(({ name }: { name: string }) => name);
  };
  const ended = async (name: string) =>
    until(
      `the end of ${name}`,
      async () => Object((await anew("claudecode_get", { name }))["config"]).status === "complete",
    );
  const waits = { timeout_secs: 0, consumer: "boss" };

  expect(await anew("claudecode_run", { ...work, name: "one", prompt: "Hello." })).toMatchObject({
    status: "complete",
  });
  expect(await anew("loopback_wait", waits)).toMatchObject({ type: "idle" });
  expect(await anew("claudecode_chat", { name: "one", prompt: "Hello.", consumer: "boss" })).toMatchObject({
    status: "complete",
  });
  expect(await anew("loopback_wait", waits)).toMatchObject({ type: "idle" });
  // A new client without a name may be the same agent, so it gets them again.
  expect(finishedIn(await anew("loopback_wait", { timeout_secs: 0 }))).toEqual(["one", "one"]);

  const children = [{ name: "two", prompt: "Hello.", working_dir: directory.path }];
  expect(finishedIn(await anew("claudecode_run", { children, consumer: "boss" }))).toEqual(["two"]);
  await anew("claudecode_chat_async", { name: "one", prompt: "Hello." });
  await ended("one");
  const { session_id } = await anew("loopback_configure", { name: "hand" });
  const session = await plexus.app.sessions.get(String(session_id));
  if (!session) throw new Error("the session was not made");
  const asked = await plexus.app.approvals.request(session, { tool_name: "Bash", input: { command: "ls" } });
  const decision = { approval_id: asked.approvalId, approve: true, consumer: "boss" };
  expect(finishedIn(await anew("loopback_respond", { ...decision, wait_secs: 0 }))).toEqual(["one"]);
  const { cursor } = await anew("loopback_wait", waits);
  expect(await anew("loopback_respond", decision)).toMatchObject({ type: "already_resolved", cursor });
});
