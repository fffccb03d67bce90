import { createHash } from "node:crypto";
import type { JsonObject } from "../../../contract/values.ts";
import { follow } from "../../../files/real-path.ts";
import type { PastRequest } from "../../../storage/past.ts";
import {
  type JudgedCall,
  judgedCall,
  type Place,
  type SeenPlace,
  SHELL_TOOLS,
  seenPlace,
} from "../../rules/matching/judged-call.ts";
import { outlineOf } from "../../rules/matching/outline/outline-of.ts";
import { type OutlinePlace, outlinePlace } from "../../rules/matching/outline/outline-place.ts";
import type { HasDangers } from "../../rules/matching/prove.ts";
import type { Session } from "../../sessions/sessions.ts";
import { matcherVersion } from "./matcher-version.ts" with { type: "macro" };

const MATCHER = matcherVersion();
/** The number of calls to cache: children repeat the same calls. */
const MAX_READ = 10_000;

type OutlinesNeed = {
  placeOf: (session: Session) => Place;
  dangersIn: (session: Session) => HasDangers;
};
/** A session's place, and the key of the outlines that are valid there. */
export type KnownPlace = { place: OutlinePlace; outlineKey: string; hasDangers: HasDangers };

export type Outlines = ReturnType<typeof createOutlines>;
export type OutlineReader = ReturnType<Outlines["open"]>;

/** Builds past calls and their outlines from the present file system. */
export function createOutlines({ placeOf, dangersIn }: OutlinesNeed) {
  return {
    /** A reader for one pass over the past. It looks at each place only once. */
    open() {
      const known = new Map<Session, KnownPlace>();
      const seen = new Map<Session, SeenPlace>();
      const read = new Map<string, string | null>();

      function placeIn(session: Session): KnownPlace {
        const found = known.get(session) ?? knownPlace(placeOf(session), dangersIn(session));
        known.set(session, found);
        return found;
      }

      function judged({ session, toolName }: { session: Session; toolName: string }, input: JsonObject): JudgedCall {
        const place = seen.get(session) ?? seenPlace(placeIn(session).place);
        seen.set(session, place);
        return judgedCall({ toolName, input }, place.place, place);
      }

      return {
        placeIn,
        judged,
        /** Whether the stored outline is still valid. */
        isCurrent: ({ outlineKey }: PastRequest, session: Session) => outlineKey === placeIn(session).outlineKey,
        outline(of: { session: Session; toolName: string }, input: JsonObject): string | null {
          const { outlineKey, hasDangers } = placeIn(of.session);
          const key = `${outlineKey} ${of.toolName} ${JSON.stringify(undescribed(of.toolName, input))}`;
          const earlier = read.get(key);
          if (earlier !== undefined) return earlier;
          const outline = outlineOf(judged(of, input), hasDangers) ?? null;
          if (read.size < MAX_READ) read.set(key, outline);
          return outline;
        },
        /** Drops the cached look at the file system. */
        forgetFiles: () => seen.clear(),
      };
    },
  };
}

/** The description of a command does not affect any rule. */
function undescribed(toolName: string, input: JsonObject): JsonObject {
  return SHELL_TOOLS.includes(toolName) && typeof input["description"] === "string"
    ? { ...input, description: "" }
    : input;
}

function knownPlace(place: Place, hasDangers: HasDangers): KnownPlace {
  const known = outlinePlace(place);
  const { workingDir, addDirs, privatePaths, home, path, realStart, realHome } = known;
  const reals = [...addDirs, ...privatePaths].map((one) => follow(one)?.real);
  const parts = [MATCHER, workingDir, addDirs, privatePaths, home, path, realStart, realHome, reals];
  const outlineKey = createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
  return { place: known, outlineKey, hasDangers };
}
