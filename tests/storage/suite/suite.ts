import { describe } from "bun:test";
import { approvalPromises } from "./approvals.ts";
import type { OpenStorage } from "./engine.ts";
import { recordPromises } from "./record.ts";
import { turnPromises } from "./turns.ts";

/** What the core relies on, whatever engine stands behind it: every guard, and every race for it. */
export function describeStorage(engine: string, open: OpenStorage): void {
  describe(`storage on ${engine}: approvals`, () => approvalPromises(open));
  describe(`storage on ${engine}: turns`, () => turnPromises(open));
  describe(`storage on ${engine}: record`, () => recordPromises(open));
}
