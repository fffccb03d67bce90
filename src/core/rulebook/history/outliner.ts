import type { Outlines } from "./outlines.ts";
import type { Past, PastCalls } from "./past-calls.ts";
import { pauses } from "./pauses.ts";
import { isByPerson } from "./tried-rules.ts";

/** The length of a pause, as a multiple of the work before it, so that outlines take a small part of one processor. */
const REST_TIMES = 4;
/** The number of requests to outline before the outliner may stop, and to store in one transaction. */
const STEP = 50;

export type Outliner = ReturnType<typeof openOutliner>;

type OutlinerNeed = { past: PastCalls; outlines: Outlines; onError: (cause: unknown) => void };

/**
 * Outlines requests soon after they are asked, and at start those that an earlier matcher has outlined, so that rules can
 * be tried on them quickly. It is only a head start: trying a rule outlines what is missing.
 */
export function openOutliner({ past, outlines, onError }: OutlinerNeed) {
  const stop = new AbortController();
  let through: string | undefined;
  let walking: Promise<void> | undefined;

  /** Goes from the newest request back to where the previous walk started. */
  async function walk(): Promise<void> {
    const reader = outlines.open();
    const pause = pauses({ restTimes: REST_TIMES, signal: stop.signal });
    let newest: string | undefined;
    for await (const batch of past.batches({ withAll: true })) {
      newest ??= batch[0]?.id;
      const fresh = batch.filter(({ id }) => through === undefined || id > through);
      const wanted = fresh.filter(mayBeTried);
      for (let from = 0; from < wanted.length; from += STEP) {
        await past.outline(wanted.slice(from, from + STEP), reader, pause);
        if (stop.signal.aborted) return;
      }
      if (fresh.length < batch.length) break;
      if (pause.isDue()) await pause.take();
    }
    through = newest ?? through;
  }

  return {
    /** Resolves when the walk ends that is under way, or that this call starts. */
    catchUp(): Promise<void> {
      walking ??= walk()
        .catch(onError)
        .finally(() => {
          walking = undefined;
        });
      return walking;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      await walking;
    },
  };
}

/** Rules are tried on what people decide; somebody may still decide a pending request. */
function mayBeTried(one: Past): boolean {
  return one.status === "pending" || isByPerson(one);
}
