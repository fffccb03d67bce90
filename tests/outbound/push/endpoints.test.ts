import { describe, expect, test } from "bun:test";
import type { lookup } from "node:dns";
import { isPublicAddress } from "../../../src/outbound/push/addresses.ts";
import { createEndpoints } from "../../../src/outbound/push/endpoints.ts";

/** A name server that answers this to every question. */
function resolver(...addresses: string[]): typeof lookup {
  const answer = (_name: string, _options: object, looked: (error: null, found: object[]) => void) =>
    looked(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  return answer as unknown as typeof lookup;
}

function post(endpoints: ReturnType<typeof createEndpoints>, endpoint: string) {
  return endpoints.post({ endpoint, headers: {}, body: Buffer.from("x"), signal: new AbortController().signal });
}

describe("an endpoint of push", () => {
  test.each(["127.0.0.1", "10.0.0.1", "::1", "fd00::1", "93.184.215.14 192.168.0.1"])(
    "whose name leads to %s is not connected to",
    async (addresses) => {
      await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
      const { delivery } = await post(
        createEndpoints([], resolver(...addresses.split(" "))),
        `https://push.example.org:${server.port}/x`,
      );
      expect(delivery).toEqual({ outcome: "failed", status: null, failure: "private_address" });
    },
  );

  test("of a host that the operator has named is connected to, and no redirect of it is followed", async () => {
    const paths: string[] = [];
    await using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch({ url }): Response {
        paths.push(new URL(url).pathname);
        return Response.redirect(new URL("/other", url).href);
      },
    });
    const endpoints = createEndpoints([`127.0.0.1:${server.port}`]);
    const { delivery } = await post(endpoints, `http://127.0.0.1:${server.port}/x`);
    expect(delivery).toEqual({ outcome: "refused", status: 302, failure: null });
    expect(paths).toEqual(["/x"]);
    expect(endpoints.problemOf(`http://127.0.0.1:${server.port}/x`)).toBeUndefined();
    expect(endpoints.problemOf("http://127.0.0.1:1/x")).toContain("https");
  });
});

test.each([
  ["8.8.8.8", true],
  ["2a00:1450:4001:81b::200e", true],
  ["64:ff9b::808:808", true],
  ["0.0.0.0", false],
  ["10.1.2.3", false],
  ["100.64.1.1", false],
  ["127.9.9.9", false],
  ["169.254.169.254", false],
  ["172.31.0.1", false],
  ["192.168.1.1", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["::", false],
  ["::1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:8.8.8.8", false],
  ["64:ff9b::a00:1", false],
  ["2002:a00:1::", false],
  ["2001:db8::1", false],
  ["fe80::1", false],
  ["fe80::1%eth0", false],
  ["fd12::1", false],
  ["ff02::1", false],
  ["example.org", false],
])("the address %s is public: %p", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
