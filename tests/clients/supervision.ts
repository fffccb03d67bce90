import { expect } from "bun:test";
import { z } from "zod";
import { createToken } from "../../src/contract/routes/tokens.ts";
import { ConfigureAnswer } from "../../src/contract/tools/approval-answers.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import { PARENT_TOOLS } from "../../src/mcp/tools/tools.ts";
import { openPlace } from "../cli/support/place.ts";
import { permitMessage, post } from "../support/mcp/raw-mcp.ts";
import { until } from "../support/until.ts";
import { PENDING_URI } from "./connection.ts";
import { openWire } from "./wire.ts";

const Waited = z.object({ approvals: z.tuple([z.object({ id: z.string() })]) });

/** The server's address and the client's token. */
export type Access = { url: string; token: string };

/** A client, operated by a program that supervises. */
export type Parent = AsyncDisposable & {
  /** The names of the tools, after the client has read their schemas. */
  tools(): Promise<string[]>;
  /** The answer of the tool, or its refusal. */
  call(tool: string, args: JsonObject): Promise<JsonObject>;
  /** The notifications that the client passed on; `undefined` if it passes on none. */
  told: unknown[];
};

export type Connect = (access: Access) => Promise<Parent>;

export type Expected = {
  /** The revision of MCP on which the client and the server agree. */
  revision: string;
  /**
   * The ways in which the client reports a request: as a log message, as an update of the resource of pending requests.
   */
  told: readonly ("message" | "resource")[];
};

/** Waits with a client while nothing is pending, is woken by a child's request, and decides it. */
export async function expectToSupervise(connect: Connect, expected: Expected): Promise<void> {
  await using place = await openPlace();
  await using wire = openWire(place.server.url);
  const { token } = await place.api.call(createToken, { body: { name: "parent" } });
  await using parent = await connect({ url: wire.url, token });

  expect((await parent.tools()).toSorted()).toEqual(PARENT_TOOLS.map(({ name }) => name).toSorted());
  const configured = await parent.call("loopback_configure", { name: "by-hand" });
  const { session_id, mcp_config } = ConfigureAnswer.parse(configured);
  const child = mcp_config.mcpServers.plexus.headers.Authorization.replace("Bearer ", "");

  let waited: JsonObject | undefined;
  const waiting = parent.call("loopback_wait", { session_id }).then((answer) => {
    waited = answer;
  });
  await wire.calls("loopback_wait");
  const input = { command: "touch made-by-child", description: "what is asked" };
  const permit = await post(place.server.url, permitMessage(input, { toolUseId: "toolu_asked" }), { token: child });
  // After its time the wait would return with the request too, so it must be woken long before.
  await Promise.race([waiting, until("loopback_wait to be woken", () => waited)]);
  const asked = { session_id, session_name: "by-hand", tool_name: "Bash", tool_use_id: "toolu_asked", input };
  expect(waited).toMatchObject({ type: "ok", approvals: [asked] });
  const [{ id: approval_id }] = Waited.parse(waited).approvals;
  const words = { message: approval_id, resource: PENDING_URI };
  for (const kind of expected.told) {
    await until(`the ${kind}`, () => JSON.stringify(parent.told).includes(words[kind]));
  }

  const unknown = await parent.call("loopback_get", { approval_id: crypto.randomUUID() });
  expect(unknown).toMatchObject({ type: "error", code: "not_found" });
  const decided = await parent.call("loopback_respond", { approval_id, approve: true });
  expect(decided).toMatchObject({ type: "ok", approval_id, status: "allowed" });
  expect(JSON.parse(await permit.answer())).toEqual({ behavior: "allow", updatedInput: input });
  expect(wire.revisions()).toEqual([expected.revision]);
}
