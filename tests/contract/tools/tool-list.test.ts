import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PARENT_TOOLS } from "../../../src/mcp/tools/tools.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { supervised } from "./supervised.ts";

describe("the tools", () => {
  const PARENT = PARENT_TOOLS.map(({ name }) => name).toSorted();
  let plexus: Plexus;
  beforeAll(async () => {
    plexus = await startPlexus();
  });
  afterAll(() => plexus[Symbol.asyncDispose]());

  const listed = async (token?: string) => {
    const { client } = await plexus.connect(token);
    return (await client.listTools()).tools;
  };
  const namesOf = async (token?: string) => (await listed(token)).map((tool) => tool.name).toSorted();

  test("of the operator are these and no others", async () => {
    expect(await namesOf()).toEqual([...PARENT, "loopback_permit"].toSorted());
  });

  test("of a named token are these and no others", async () => {
    expect(await namesOf((await plexus.app.tokens.createNamed("laptop")).token)).toEqual(PARENT);
  });

  test("of a child are its permit alone", async () => {
    expect(await namesOf((await plexus.child()).token)).toEqual(["loopback_permit"]);
  });

  test("have a description, and say of each argument what it is for", async () => {
    for (const { name, description, inputSchema } of await listed()) {
      expect(description?.length ?? 0).toBeGreaterThan(40);
      for (const [argument, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect({ name, argument, schema }).toEqual({
          name,
          argument,
          schema: expect.objectContaining({ description: expect.any(String) }),
        });
      }
    }
  });
});

describe("a child's input", () => {
  test("is marked as untrusted text in every description of a tool that shows it", async () => {
    await using world = await supervised();
    const { tools } = await world.parent.client.listTools();
    for (const name of ["loopback_wait", "loopback_pending", "loopback_get"]) {
      expect(tools.find((tool) => tool.name === name)?.description).toContain("untrusted");
    }
  });

  test("is marked as untrusted text in every result that shows it", async () => {
    await using world = await supervised();
    const { id } = await world.ask();
    const answers = [
      await world.parent.call("loopback_wait"),
      await world.parent.call("loopback_pending"),
      await world.parent.call("loopback_get", { approval_id: id }),
      await world.parent.call("loopback_get", { approval_id: id, offset: 0 }),
    ];
    for (const { value } of answers) expect(value["next"]).toContain("untrusted");
  });
});

describe("the instructions", () => {
  test("explain the loop to a decider in ten lines", async () => {
    await using world = await supervised();
    const instructions = world.parent.client.getInstructions() ?? "";
    expect(instructions.match(/^\d+\. /gm)).toHaveLength(10);
    for (const word of ["loopback_wait", "loopback_respond", "untrusted", "expires_at", "already_resolved"]) {
      expect(instructions).toContain(word);
    }
  });

  test("tell a child nothing of how decisions are made", async () => {
    await using world = await supervised();
    expect(world.child.client.getInstructions()).not.toContain("loopback_respond");
  });
});
