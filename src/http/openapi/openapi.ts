import { Hono } from "hono";
import { VERSION } from "../../version.ts";
import type { Env } from "../middleware/auth.ts";

export const DOCS_PATH = "/api/v1/docs";

/** The interface, described: for programs, and for people. Loaded and made when it is first asked for. */
export function openApiRoutes() {
  let document: Promise<object> | undefined;
  let page: Promise<{ text: string; policy: string }> | undefined;
  return new Hono<Env>()
    .get("/openapi.json", async (c) => {
      document ??= makeDocument();
      return c.json(await document);
    })
    .get("/docs", async (c) => {
      page ??= makePage();
      const { text, policy } = await page;
      return c.html(text, 200, {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
      });
    });
}

async function makeDocument(): Promise<object> {
  const { openApiDocument } = await import("./document.ts");
  return openApiDocument(VERSION);
}

async function makePage() {
  const { docsPage, docsPolicy } = await import("./page.ts");
  return { text: String(await docsPage()), policy: docsPolicy };
}
