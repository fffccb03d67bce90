import { expect, setDefaultTimeout, test } from "bun:test";
import { namedToken } from "../../http/support/callers.ts";
import { writeEcho } from "../../support/claude/stand-in.ts";
import { startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

test("an operator who polls a token's session has a separate position", async () => {
  await using directory = await temporaryDirectory();
  await using plexus = await startPlexus({ flags: { claude: writeEcho(directory.path) } });
  const { token } = await namedToken(plexus, "agent");
  const [agent, operator] = [await plexus.connect(token), await plexus.connect()];
  const made = await agent.call("claudecode_create", { name: "own", working_dir: directory.path });
  await agent.call("claudecode_chat", { name: "own", prompt: "work", wait_secs: 60 });
  const session_id = String(made.value["id"]);
  const poll = async (client: typeof agent, given: object = {}) => {
    const { value } = await client.call("claudecode_poll", { session_id, ...given });
    return { read: (value["events"] as unknown[]).length, position: value["read_position"] };
  };
  const all = await poll(operator);
  expect(all.read).toBeGreaterThan(1);
  expect(await poll(operator)).toMatchObject({ read: 0 });
  const named = { consumer: "operator:" };
  for (const given of [{}, named]) {
    expect(await poll(agent, given)).toEqual(all);
    expect(await poll(agent, given)).toMatchObject({ read: 0 });
  }
  expect(await poll(operator, named)).toEqual(all);
});
