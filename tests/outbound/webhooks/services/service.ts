import type { z } from "zod";

export type Service<S extends z.ZodType> = AsyncDisposable & {
  /** With this path. */
  url: (path: string) => string;
  received: { body: z.output<S>; path: string; headers: Headers }[];
  /** What was refused, and why. */
  refused: string[];
  /** A promise holds it. */
  answer: () => Response | Promise<Response>;
};

/** A chat service on this machine: it takes only what its schema says, and refuses anything else with 400. */
export function startService<S extends z.ZodType>(schema: S): Service<S> {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const parsed = schema.safeParse(await request.json());
      if (!parsed.success) {
        service.refused.push(parsed.error.message);
        return new Response(parsed.error.message, { status: 400 });
      }
      service.received.push({ body: parsed.data, path: `${pathname}${search}`, headers: request.headers });
      return service.answer();
    },
  });
  const service: Service<S> = {
    url: (path) => `http://127.0.0.1:${server.port}${path}`,
    received: [],
    refused: [],
    answer: () => new Response("ok"),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return service;
}
