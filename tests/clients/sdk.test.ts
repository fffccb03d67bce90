import { setDefaultTimeout, test } from "bun:test";
import { connectSdk1, connectSdk1Stdio } from "./sdk-1.ts";
import { connectSdk2, connectSdk2Stdio } from "./sdk-2.ts";
import { type Connect, type Expected, expectToSupervise } from "./supervision.ts";

setDefaultTimeout(60_000);

const LEGACY: Expected = { revision: "2025-11-25", told: ["message", "resource"] };

const MODERN: Expected = { revision: "2026-07-28", told: ["resource"] };
const PINNED = { pin: "2026-07-28" };

const CLIENTS: Record<string, [Connect, Expected]> = {
  "1.32 over HTTP": [connectSdk1, LEGACY],
  "1.32 over stdio": [connectSdk1Stdio, LEGACY],
  "2.4 over HTTP": [connectSdk2(), LEGACY],
  "2.4 over stdio": [connectSdk2Stdio(), LEGACY],
  "2.4 over HTTP, which takes the newest revision": [connectSdk2("auto"), MODERN],
  "2.4 over stdio, which takes the newest revision": [connectSdk2Stdio("auto"), MODERN],
  "2.4 over HTTP, pinned to 2026-07-28": [connectSdk2(PINNED), MODERN],
  "2.4 over stdio, pinned to 2026-07-28": [connectSdk2Stdio(PINNED), MODERN],
};

test.each(Object.entries(CLIENTS))("the TypeScript SDK %s supervises", (_, [connect, expected]) =>
  expectToSupervise(connect, expected),
);
