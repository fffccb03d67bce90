import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { startPlexus } from "../../support/server/plexus.ts";

/** The body as sent, without decoding, which fetch does by default. */
async function raw(url: string, headers: Record<string, string>) {
  return fetch(url, { headers, decompress: false });
}

describe("the web page", () => {
  test("needs no token, and may load nothing but its own files", async () => {
    await using plexus = await startPlexus();
    const response = await plexus.fetch("/", { token: null });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'");
    for (const directive of [
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(policy).toContain(directive);
    }
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(response.headers.get("set-cookie")).toBeNull();
    const html = await response.text();
    expect(html).not.toMatch(/<script(?! type="module" src="\/assets\/)|style=|https?:/);
  });

  test("may be cached by a browser, but the answers to its requests may not", async () => {
    await using plexus = await startPlexus();
    const { code } = await plexus.app.signIn.newCode({ kind: "operator" });
    const answers = [
      await plexus.fetch("/api/v1/approvals"),
      await plexus.fetch("/api/v1/sign-in", { method: "POST", token: null, body: JSON.stringify({ code }) }),
      await plexus.fetch("/api/v1/me", { token: null }),
      await plexus.fetch("/assets/none.js", { token: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 404]);
    for (const { headers } of answers) {
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("names its files by their content, so they can be cached forever", async () => {
    await using plexus = await startPlexus();
    const html = await (await plexus.fetch("/", { token: null })).text();
    const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(files).toHaveLength(5);
    for (const path of files) {
      const response = await plexus.fetch(path, { token: null });
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      const isNamedByContent = /-\w{8}\./.test(path);
      expect(response.headers.get("cache-control")).toBe(
        isNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
      );
    }
    expect((await plexus.fetch("/assets/none.js", { token: null })).status).toBe(404);
    expect((await plexus.fetch("/assets/../api/v1/approvals", { token: null })).status).toBe(401);
  });

  test("is sent in an encoding that the browser accepts, and not again if the browser has it", async () => {
    await using plexus = await startPlexus();
    const url = `${plexus.url}/`;
    const plain = await (await raw(url, { "accept-encoding": "identity" })).text();
    const brotli = await raw(url, { "accept-encoding": "gzip, deflate, br" });
    expect(brotli.headers.get("content-encoding")).toBe("br");
    expect(brotliDecompressSync(await brotli.bytes()).toString()).toBe(plain);
    const gzip = await raw(url, { "accept-encoding": "gzip, br;q=0" });
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await gzip.bytes()).toString()).toBe(plain);
    const again = await raw(url, { "accept-encoding": "gzip", "if-none-match": gzip.headers.get("etag") ?? "" });
    expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: "" });
  });
});
