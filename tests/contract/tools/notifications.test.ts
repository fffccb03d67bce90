import { describe, expect, test } from "bun:test";
import { ToolRequestEvent } from "../../../src/contract/approvals/approval.ts";
import { ChangeEvent } from "../../../src/contract/change.ts";
import { PendingResource } from "../../../src/contract/tools/approval-answers.ts";
import { get, post } from "../../support/mcp/raw-mcp.ts";
import { OPERATOR_TOKEN, type Plexus } from "../../support/server/plexus.ts";
import { ARGS, supervised } from "./supervised.ts";

describe("a new request", () => {
  test("is sent to a connected decider as notifications/message", async () => {
    await using world = await supervised();
    const { stream } = await listen(world.plexus);
    const { id } = await world.ask();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/message");
    const { data, ...params } = message?.params ?? {};
    expect(params).toEqual({ level: "notice", logger: "loopback" });
    expect(ToolRequestEvent.parse(data)).toEqual({
      approval_id: id,
      session_name: "worker",
      tool_name: ARGS.tool_name,
      tool_input: ARGS.input,
      tool_use_id: ARGS.tool_use_id,
    });
  });

  test("is sent with null for a missing tool_use_id", async () => {
    await using world = await supervised();
    const { stream } = await listen(world.plexus);
    await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    expect(ToolRequestEvent.parse((await stream.next())?.message?.params?.["data"]).tool_use_id).toBeNull();
  });

  test("is sent as a change of the resource to its subscribers", async () => {
    await using world = await supervised();
    const { stream, send } = await listen(world.plexus);
    await send({ id: 2, method: "resources/subscribe", params: { uri: "loopback://approvals/pending" } });
    await world.ask();
    await stream.next();
    const { message } = (await stream.next()) ?? {};
    expect(message?.method).toBe("notifications/resources/updated");
    expect(message?.params).toEqual({ uri: "loopback://approvals/pending" });
  });

  test("is in the resource loopback://approvals/pending", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const { contents } = await world.parent.client.readResource({ uri: "loopback://approvals/pending" });
    expect(contents).toMatchObject([{ uri: "loopback://approvals/pending", mimeType: "application/json" }]);
    const [content] = contents;
    const pending = PendingResource.parse(JSON.parse(content && "text" in content ? content.text : ""));
    expect(pending).toMatchObject({ approvals: [{ id, ...ARGS }], has_more: false });
  });

  test("and its decision arrive as server-sent events", async () => {
    await using world = await supervised();
    const first = await world.ask();
    const second = await world.ask({ tool_name: "Bash", input: { command: "ls" } });
    await world.parent.call("loopback_respond", { approval_id: second.id, approve: true });
    const response = await world.plexus.fetch("/api/v1/events", { headers: { "last-event-id": "0" } });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk);
      if (text.includes("approval_resolved") && text.endsWith("\n\n")) break;
    }
    const events = [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)$/gm)];
    expect(events.map(([, id, event]) => `${id} ${event}`)).toEqual([
      "1 approval_requested",
      "2 approval_requested",
      "3 approval_resolved",
    ]);
    const [asked, , resolved] = events.map(([, , , data]) => ChangeEvent.parse(JSON.parse(data ?? "")));
    expect(asked).toMatchObject({ approval_id: first.id, tool_input: ARGS.input, tool_use_id: "toolu_1" });
    expect(resolved).toMatchObject({ approval_id: second.id, status: "allowed", resolved_by: "operator" });
  });
});

/** Connects a client as the operator; its notification stream is open when this returns. */
async function listen(plexus: Plexus) {
  let session: Record<string, string> = {};
  const send = (message: object) =>
    post(plexus.url, { jsonrpc: "2.0", ...message }, { token: OPERATOR_TOKEN, headers: session });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const { headers } = await send({ id: 1, method: "initialize", params });
  session = { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  await send({ method: "notifications/initialized" });
  const stream = await get(plexus.url, { token: OPERATOR_TOKEN, headers: session });
  expect((await stream.next())?.id).toBe("notifications");
  return { stream, send };
}
