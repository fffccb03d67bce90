import { z } from "zod";
import { JsonObject } from "../../src/contract/values.ts";
import { PROGRAM } from "../support/server/program.ts";
import type { Access } from "./supervision.ts";

const Result = z.object({ content: z.tuple([z.object({ type: z.literal("text"), text: z.string() })]) });

/** The content of the only text block of a tool's result. */
export function answered(result: unknown): JsonObject {
  const [{ text }] = Result.parse(result).content;
  return JsonObject.parse(JSON.parse(text));
}

/** The resource of the pending approvals. */
export const PENDING_URI = "loopback://approvals/pending";
export const CLIENT_INFO = { name: "a parent of the tests", version: "1" };

export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}

/** The command with which a stdio client starts the bridge to the server. */
export function bridgeTo({ url, token }: Access) {
  const [command = "", ...args] = PROGRAM;
  return {
    command,
    args: [...args, "mcp"],
    env: { PLEXUS_URL: url, PLEXUS_TOKEN: token, PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" },
    cwd: "/",
    stderr: "ignore" as const,
  };
}
