import { getDocs, getOpenApi } from "../../contract/routes/server.ts";
import { VERSION } from "../../version.ts";
import type { Operation } from "../openapi/description.ts";
import { type Served, type ServedOpenly, serve, serveOpenly } from "../serve.ts";

/** The OpenAPI document. It is loaded and built at the first request. */
export function openApiRoutes(operations: () => Operation[]): Served[] {
  let document: ReturnType<typeof makeDocument> | undefined;
  return [
    serve(getOpenApi, {
      tag: "Server",
      summary: "The interface, in OpenAPI 3.1",
      answer: { says: "An OpenAPI 3.1 document.", example: { openapi: "3.1.0" } },
    }).by(async () => {
      document ??= makeDocument(operations());
      return document;
    }),
  ];
}

/** The same for people. It is the same on every server, so it needs no token. */
export function docsRoutes(operations: () => Operation[]): ServedOpenly[] {
  let page: ReturnType<typeof makePage> | undefined;
  return [
    serveOpenly(getDocs, {
      tag: "Server",
      summary: "The interface, described for people",
      token: "none",
      text: { says: "A page that loads nothing else." },
    }).by(async ({ c }) => {
      page ??= makePage(operations());
      const { text, policy } = await page;
      return c.html(text, 200, {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
      });
    }),
  ];
}

async function makeDocument(operations: Operation[]) {
  const { openApiDocument } = await import("../openapi/document.ts");
  return openApiDocument(operations, VERSION);
}

async function makePage(operations: Operation[]) {
  const { docsPage, docsPolicy } = await import("../openapi/page.ts");
  return { text: String(await docsPage(operations)), policy: docsPolicy };
}
