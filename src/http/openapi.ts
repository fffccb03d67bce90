import { Hono } from "hono";
import type { JsonObject } from "../schema/values.ts";
import { VERSION } from "../version.ts";
import type { Env } from "./auth.ts";
import { openApiDocument } from "./openapi-document.ts";
import { docsPage, docsPolicy } from "./openapi-page.ts";

export const DOCS_PATH = "/api/v1/docs";

/** The interface, described: for programs, and for people. Made when it is first asked for. */
export function openApiRoutes() {
  let document: JsonObject | undefined;
  let page: ReturnType<typeof docsPage> | undefined;
  return new Hono<Env>()
    .get("/openapi.json", (c) => {
      document ??= openApiDocument(VERSION);
      return c.json(document);
    })
    .get("/docs", (c) => {
      page ??= docsPage();
      return c.html(page, 200, {
        "Content-Security-Policy": docsPolicy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
      });
    });
}
