import { describe } from "bun:test";
import { accessPromises } from "./access/access.ts";
import { pushPromises } from "./access/push.ts";
import { activityPromises } from "./activity.ts";
import { approvalPromises } from "./approvals.ts";
import { decidedPromises } from "./decided.ts";
import { forRaces, type OpenStorage } from "./engine.ts";
import { linkPromises } from "./links.ts";
import { listPromises } from "./lists.ts";
import { queuePromises } from "./queue.ts";
import { readerPromises } from "./readers.ts";
import { recordPromises } from "./record.ts";
import { brakePromises } from "./rules/brake.ts";
import { pastPromises } from "./rules/past.ts";
import { ruledRequestPromises } from "./rules/ruled-requests.ts";
import { rulePromises } from "./rules/rules.ts";
import { serverPromises } from "./servers.ts";
import { sessionPromises } from "./sessions.ts";
import { turnPromises } from "./turns.ts";
import { waitingPromises } from "./waiting.ts";

/** Everything that the core relies on with any engine: every guard, and every race for it. */
export function describeStorage(engine: string, open: OpenStorage): void {
  const openForRaces = forRaces(open);
  describe(`storage on ${engine}: approvals`, () => approvalPromises(openForRaces));
  describe(`storage on ${engine}: links`, () => linkPromises(openForRaces));
  describe(`storage on ${engine}: sessions`, () => sessionPromises(openForRaces));
  describe(`storage on ${engine}: turns`, () => turnPromises(openForRaces));
  describe(`storage on ${engine}: queue`, () => queuePromises(openForRaces));
  describe(`storage on ${engine}: record`, () => recordPromises(openForRaces));
  describe(`storage on ${engine}: access`, () => accessPromises(openForRaces));
  describe(`storage on ${engine}: push`, () => pushPromises(openForRaces));
  describe(`storage on ${engine}: lists`, () => listPromises(openForRaces));
  describe(`storage on ${engine}: decisions`, () => decidedPromises(openForRaces));
  describe(`storage on ${engine}: rules`, () => rulePromises(openForRaces));
  describe(`storage on ${engine}: requests that rules decide`, () => ruledRequestPromises(openForRaces));
  describe(`storage on ${engine}: past requests`, () => pastPromises(openForRaces));
  describe(`storage on ${engine}: brake`, () => brakePromises(openForRaces));
  describe(`storage on ${engine}: servers`, () => serverPromises(openForRaces));
  describe(`storage on ${engine}: activity`, () => activityPromises(openForRaces));
  describe(`storage on ${engine}: readers`, () => readerPromises(openForRaces));
  describe(`storage on ${engine}: waiting`, () => waitingPromises(openForRaces));
}
