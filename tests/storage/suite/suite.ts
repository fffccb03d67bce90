import { describe } from "bun:test";
import { accessPromises } from "./access.ts";
import { approvalPromises } from "./approvals.ts";
import { forRaces, type OpenStorage } from "./engine.ts";
import { listPromises } from "./lists.ts";
import { queuePromises } from "./queue.ts";
import { recordPromises } from "./record.ts";
import { turnPromises } from "./turns.ts";
import { waitingPromises } from "./waiting.ts";

/** What the core relies on, whatever engine stands behind it: every guard, and every race for it. */
export function describeStorage(engine: string, open: OpenStorage): void {
  const openForRaces = forRaces(open);
  describe(`storage on ${engine}: approvals`, () => approvalPromises(openForRaces));
  describe(`storage on ${engine}: turns`, () => turnPromises(openForRaces));
  describe(`storage on ${engine}: queue`, () => queuePromises(openForRaces));
  describe(`storage on ${engine}: record`, () => recordPromises(openForRaces));
  describe(`storage on ${engine}: access`, () => accessPromises(openForRaces));
  describe(`storage on ${engine}: lists`, () => listPromises(openForRaces));
  describe(`storage on ${engine}: waiting`, () => waitingPromises(openForRaces));
}
