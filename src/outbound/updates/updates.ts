import { z } from "zod";
import type { NewestVersion } from "../../contract/routes/server.ts";
import { seconds } from "../../contract/values.ts";

const ANSWER_WITHIN_MS = 5_000;
const MAX_BYTES = 256 * 1024;
/** How long to wait before asking a source again, after an answer and after a failure. */
const DAY_MS = 24 * 60 * 60_000;
const TRY_AGAIN_AFTER_MS = 10 * 60_000;
const VERSION_TEXT = /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;
/** The latest release as code hosts describe it, or a minimal form. */
const Told = z.union([z.looseObject({ tag_name: z.string() }), z.looseObject({ version: z.string() })]);

/** The source's answer. */
type Read = { version: string | undefined; at: number };

export type Updates = ReturnType<typeof createUpdates>;

/** Looks for a newer version at the URL that the operator has configured; without one, nobody is asked. */
export function createUpdates({ source, now }: { source: string | undefined; now: () => number }) {
  let last: Read | undefined;
  let reading: Promise<Read> | undefined;

  async function read(url: string): Promise<Read> {
    return { version: await newestAt(url).catch(() => undefined), at: now() };
  }

  function isFresh({ version, at }: Read): boolean {
    return now() - at < (version === undefined ? TRY_AGAIN_AFTER_MS : DAY_MS);
  }

  return {
    /** Returns what is known about a version newer than the running one. */
    async newest(running: string): Promise<NewestVersion> {
      if (source === undefined) return { state: "not_asked" };
      if (!last || !isFresh(last)) {
        reading ??= read(source).finally(() => {
          reading = undefined;
        });
        last = await reading;
      }
      const { version, at } = last;
      const checked_at = seconds(at);
      if (version === undefined) return { state: "unknown", checked_at };
      return { state: "known", version, is_newer: Bun.semver.order(version, running) > 0, checked_at };
    },
  };
}

/** Reads the version at the URL, without sending any data or following redirects. */
async function newestAt(url: string): Promise<string | undefined> {
  const response = await fetch(url, {
    redirect: "error",
    headers: { Accept: "application/json, text/plain", "User-Agent": "plexus" },
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const text = (await textOf(response)).trim();
  return response.ok ? VERSION_TEXT.exec(toldIn(text))?.[1] : undefined;
}

function toldIn(text: string): string {
  if (!text.startsWith("{")) return text;
  const told = Told.safeParse(JSON.parse(text)).data;
  return told === undefined ? "" : String("tag_name" in told ? told.tag_name : told.version);
}

/** Reads a response up to a size limit. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error("too long for a version");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
