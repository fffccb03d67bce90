import type { Principal } from "../../access/principals.ts";
import type { JudgedCall } from "../../rules/matching/judged-call.ts";
import { suggestedIn } from "../../rules/matching/outline/outline-of.ts";
import type { Session } from "../../sessions/sessions.ts";
import type { Judge } from "../judge.ts";
import type { Outlines } from "./outlines.ts";
import type { Past, PastCalls } from "./past-calls.ts";
import { pauses } from "./pauses.ts";
import { isByPerson } from "./tried-rules.ts";

/** A rule that would have saved fewer decisions is not worth suggesting. */
const LEAST_SAVED = 2;
/**
 * The number of past calls, in all and for each session, that show whether the present rules already decide such calls.
 */
const MAX_SAMPLES = 8;
const MAX_SAMPLES_OF_SESSION = 2;
/** The most matches to check in this way. */
const MAX_SAMPLED = 200;

type Candidate = { saved: number; samples: Past[] };
type LikelyMatchesNeed = { past: PastCalls; outlines: Outlines; judge: Pick<Judge, "coveredNow"> };

/** The matches that would have been suggested for the most approvals, and for no denial. */
export function createLikelyMatches({ past, outlines, judge }: LikelyMatchesNeed) {
  return async (principal: Principal, sessionId: string | undefined, most: number): Promise<string[]> => {
    const reader = outlines.open();
    const candidates = new Map<string, Candidate>();
    const refuted = new Set<string>();
    const pause = pauses();
    for await (const batch of past.of(principal, sessionId, [])) {
      const byPeople = batch.filter(isByPerson);
      await past.outline(byPeople, reader, pause);
      for (const one of byPeople) {
        const match = one.outline === null ? undefined : suggestedIn(one.outline);
        if (match === undefined) continue;
        if (one.status === "denied") refuted.add(match);
        else addTo(candidates, match, one);
      }
      if (pause.isDue()) await pause.take();
    }
    const likely = [...candidates]
      .filter(([match, { saved }]) => saved >= LEAST_SAVED && !refuted.has(match))
      .toSorted(([, a], [, b]) => b.saved - a.saved)
      .slice(0, MAX_SAMPLED);
    const covered = new Map<Session, (call: JudgedCall) => boolean>();
    const isLeft = async ({ samples }: Candidate): Promise<boolean> => {
      let left = 0;
      for await (const [one, input] of past.withInputs(samples)) {
        const isCovered = covered.get(one.session) ?? (await judge.coveredNow(one.session));
        covered.set(one.session, isCovered);
        if (!isCovered(reader.judged(one, input))) left++;
      }
      return left >= LEAST_SAVED;
    };
    const matches: string[] = [];
    for (const [match, candidate] of likely) {
      if (matches.length === most) break;
      if (await isLeft(candidate)) matches.push(match);
      if (pause.isDue()) await pause.take();
    }
    return matches;
  };
}

function addTo(candidates: Map<string, Candidate>, match: string, one: Past): void {
  const candidate = candidates.get(match) ?? { saved: 0, samples: [] };
  candidates.set(match, candidate);
  candidate.saved++;
  if (candidate.samples.length === MAX_SAMPLES) return;
  const ofSession = candidate.samples.filter(({ session }) => session === one.session).length;
  if (ofSession < MAX_SAMPLES_OF_SESSION) candidate.samples.push(one);
}
