import { describe, expect, test } from "bun:test";
import { Hono } from "hono";
import { z } from "zod";
import { route } from "../../src/contract/routes/declaration/route.ts";
import type { Caller, Env } from "../../src/http/middleware/auth.ts";
import { answerError } from "../../src/http/middleware/errors.ts";
import { register, type Served, type ServedOpenly, serve, serveOpenly } from "../../src/http/serve.ts";
import { createLog } from "../../src/log.ts";

const Thing = z.object({ type: z.literal("ok"), size: z.int() });
const query = z.strictObject({ size: z.coerce.number<number>().int() });
const getThing = route("GET", "/things/:name", { query, answer: Thing });
const makeThing = route("POST", "/things", { answers: { 201: Thing } });
const tryThing = route("POST", "/things/:name/try", { answers: { 200: Thing, 202: z.object({ later: z.boolean() }) } });

const about = { tag: "Server", summary: "A thing" } as const;
const params = { name: "The thing's name" };
const answer = { says: "It.", example: { type: "ok", size: 1 } } as const;
const OPERATOR: Caller = {
  holder: { principal: { kind: "operator" } },
  principal: { kind: "operator" },
  anonymous: false,
  revoked: new AbortController().signal,
};

describe("serve", () => {
  test("passes validated values to its handler, and answers with the declared status", async () => {
    const get = serve(getThing, { ...about, params, answer }).by(async ({ principal, params, query }) => {
      expect({ principal, params }).toEqual({ principal: { kind: "operator" }, params: { name: "a b" } });
      return { type: "ok", size: query.size };
    });
    expect(await request(get, "GET", "/things/a%20b?size=7")).toEqual([200, { type: "ok", size: 7 }]);
    const make = serve(makeThing, { ...about, answers: { 201: answer } }).by(async () => ({ type: "ok", size: 2 }));
    expect(await request(make, "POST", "/things")).toEqual([201, { type: "ok", size: 2 }]);
  });

  test("lets its handler choose if several statuses are declared", async () => {
    const answers = { 200: answer, 202: { says: "Later.", example: { later: true } } };
    const tried = serve(tryThing, { ...about, params, answers }).by(async ({ params }) =>
      params.name === "x" ? { status: 202, answer: { later: true } } : { status: 200, answer: { type: "ok", size: 3 } },
    );
    expect(await request(tried, "POST", "/things/x/try")).toEqual([202, { later: true }]);
    expect(await request(tried, "POST", "/things/y/try")).toEqual([200, { type: "ok", size: 3 }]);
  });

  test("refuses a request that does not fit the declaration, before its handler runs", async () => {
    const get = serve(getThing, { ...about, params, answer }).by(async () => {
      throw new Error("ran");
    });
    expect(await request(get, "GET", "/things/a?size=big")).toEqual([422, expect.anything()]);
    expect(await request(get, "GET", "/things/a?size=1&colour=red")).toEqual([422, expect.anything()]);
  });

  test("refuses a request without a caller, even without a guard", async () => {
    const get = serve(getThing, { ...about, params, answer }).by(async () => ({ type: "ok", size: 1 }));
    expect(await request(get, "GET", "/things/a?size=1", null)).toEqual([401, expect.anything()]);
    // @ts-expect-error such a route can't be among those that need no token
    const open: ServedOpenly[] = [get];
    expect(open).toMatchObject([{ token: "needed" }]);
  });

  test("keeps the declaration and its description; a mismatch does not compile", () => {
    const served = [
      serve(getThing, { ...about, params, answer }).by(async () => ({ type: "ok", size: 1 })),
      // @ts-expect-error the answer has another type
      serve(getThing, { ...about, params, answer }).by(async () => ({ type: "ok", size: "large" })),
      // @ts-expect-error the path has no such parameter
      serve(getThing, { ...about, params, answer }).by(async ({ params }) => ({ type: "ok", size: params.id.length })),
      // @ts-expect-error the description lacks the path's parameter
      serve(getThing, { ...about, answer }).by(async () => answer.example),
      // @ts-expect-error the example lacks a field
      serve(getThing, { ...about, params, answer: { says: "It.", example: { type: "ok" } } }).by(
        async () => answer.example,
      ),
    ];
    for (const one of served) expect(one).toMatchObject({ route: getThing, description: about });
  });
});

describe("serveOpenly", () => {
  test("answers a request without a caller, and passes its handler no principal", async () => {
    const get = serveOpenly(getThing, { ...about, params, token: "none", answer }).by(async ({ principal }) => ({
      type: "ok",
      size: principal ? 1 : 0,
    }));
    expect(await request(get, "GET", "/things/a?size=1", null)).toEqual([200, { type: "ok", size: 0 }]);
    expect(await request(get, "GET", "/things/a?size=1")).toEqual([200, { type: "ok", size: 1 }]);
  });
});

/** Sends one request to a server with this route alone. */
async function request(
  served: Served,
  method: string,
  path: string,
  caller: Caller | null = OPERATOR,
): Promise<[status: number, body: unknown]> {
  const log = createLog("error", () => {});
  const hono = new Hono<Env>();
  hono.onError((cause, c) => answerError(c, cause, log));
  hono.use(async (c, next) => {
    c.set("caller", caller ?? undefined);
    await next();
  });
  const closing = new AbortController().signal;
  const count = () => ({ [Symbol.dispose]() {} });
  register(hono, served, { log, keepAliveMs: 1_000, closing, count, isOver: () => false });
  const response = await hono.request(path, { method });
  return [response.status, await response.json()];
}
