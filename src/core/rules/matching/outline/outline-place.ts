import { follow } from "../../../../files/real-path.ts";
import type { Place } from "../judged-call.ts";

/** A place with the real paths of its directories. */
export type OutlinePlace = Place & { realStart: string | undefined; realHome: string | undefined };

export function outlinePlace(place: Place): OutlinePlace {
  const { workingDir, home } = place;
  return {
    ...place,
    realStart: workingDir === undefined ? undefined : follow(workingDir)?.real,
    realHome: follow(home)?.real,
  };
}
