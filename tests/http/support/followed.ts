import type { Plexus } from "../../support/server/plexus.ts";

/** The signals of the readers that the server follows; an aborted one has no subscription any more. */
export function watchReaders(plexus: Plexus): AbortSignal[] {
  const signals: AbortSignal[] = [];
  const follow = plexus.app.eventFeed.follow;
  plexus.app.eventFeed.follow = (principal, after, signal) => {
    signals.push(signal);
    return follow(principal, after, signal);
  };
  return signals;
}

/** Counts the events that the server has taken out of the subscription. */
export function countTaken(plexus: Plexus): { count: number } {
  const taken = { count: 0 };
  const follow = plexus.app.eventFeed.follow;
  plexus.app.eventFeed.follow = async function* (principal, after, signal) {
    for await (const event of follow(principal, after, signal)) {
      taken.count++;
      yield event;
    }
  };
  return taken;
}
