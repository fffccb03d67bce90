import { describe, expect, test } from "bun:test";
import { type Context, Hono } from "hono";
import { UnsupportedPathError } from "hono/router";
import { createRouter } from "../../src/http/router.ts";

const answer = (c: Context) => c.text(`${c.get("passed") ?? ""}${c.req.routePath} ${JSON.stringify(c.req.param())}`);

function routed() {
  const passed = (name: string) => async (c: Context, next: () => Promise<void>) => {
    c.set("passed", `${c.get("passed") ?? ""}${name} `);
    await next();
  };
  return new Hono({ router: createRouter() })
    .use(passed("all"))
    .get("/things", answer)
    .use(passed("later"))
    .post("/things/try", answer)
    .post("/things/:id/try", answer)
    .get("/things/:id", answer)
    .all("/any", answer);
}

async function text(method: string, path: string): Promise<string> {
  const response = await routed().request(path, { method });
  return response.ok ? response.text() : String(response.status);
}

describe("the router", () => {
  test("distinguishes an exact path from one with a parameter in the same place", async () => {
    expect(await text("POST", "/things/try")).toBe("all later /things/try {}");
    expect(await text("POST", "/things/7/try")).toBe('all later /things/:id/try {"id":"7"}');
  });

  test("matches an exact path by method", async () => {
    expect(await text("GET", "/things/try")).toBe('all later /things/:id {"id":"try"}');
    expect(await text("DELETE", "/any")).toBe("all later /any {}");
    expect(await text("DELETE", "/things/try")).toBe("404");
    expect(await text("GET", "/things")).toBe("all /things {}");
    expect(await text("GET", "/nothing")).toBe("404");
  });

  test("refuses at the start routes that only a slower router could distinguish", () => {
    const app = new Hono({ router: createRouter() }).get("/things/:id/try", answer);
    expect(() => app.get("/things/:name{[a-z]+}/again", answer)).toThrow(UnsupportedPathError);
    expect(() => app.get("/things/*", answer)).toThrow("GET /things/*: a wildcard stands before all, or nowhere");
  });
});
