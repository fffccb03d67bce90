import { elementScroll } from "@tanstack/virtual-core";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { usePage } from "../../context.ts";
import { Scrollable } from "../../shared/elements/scrollable.tsx";
import { useVirtual } from "../../shared/elements/virtual.ts";
import { SessionRequests } from "../session-requests.tsx";
import { useAnchor } from "./anchor.ts";
import { entriesOf, passagesOf } from "./entries.ts";
import { PassageView } from "./entry.tsx";
import { useMarkedText } from "./found-text.ts";
import type { TranscriptSearch } from "./search.ts";
import { ownEvents } from "./shared-text.ts";
import type { Chunk, Transcript } from "./transcript.ts";

const ESTIMATED_PX = 800;

type Props = { transcript: Transcript; sessionId: string; search: TranscriptSearch };

/** A transcript of any length: only the part on the screen is loaded and drawn. */
export function TranscriptView({ transcript, sessionId, search }: Props) {
  const scroller = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const { router, announcer } = usePage();
  const here = router.route.value;
  const target = here.page === "session" ? here.turn : undefined;
  const chunks = transcript.chunks.value;
  const rows = useVirtual({
    count: chunks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATED_PX,
    // Return the same function for the same chunks, otherwise every size is computed again.
    getItemKey: useCallback((index: number) => chunks[index]?.key ?? index, [chunks]),
    overscan: 1,
    scrollToFn: (...given) => {
      elementScroll(...given);
      anchor.noteMoved();
    },
  });
  const anchor = useAnchor({
    scroller,
    end,
    transcript,
    target,
    shows: search.shows.value,
    found: search.at.value < 0 ? "" : search.text.value.trim(),
    topOf: (index) => rows.getOffsetForIndex(index, "start")?.[0] ?? 0,
  });
  useMarkedText(scroller, search.text.value.trim());
  const isGone = target !== undefined && !transcript.turns.value.some(({ turn_id }) => turn_id === target.id);
  useEffect(() => {
    if (isGone) announcer.complain("The turn of this address is not in this session, or not any more.");
  }, [isGone]);
  return (
    <Scrollable class="transcript" scroller={scroller} role="log" label="Transcript" onScroll={anchor.onScroll}>
      <div class="transcript-all" style={{ height: `${rows.getTotalSize()}px` }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const chunk = chunks[index];
          const place = { index, start, measure: rows.measureElement };
          return chunk && <PlacedChunk key={key} chunk={chunk} transcript={transcript} place={place} />;
        })}
      </div>
      <div class="transcript-end" ref={end}>
        <SessionRequests sessionId={sessionId} />
      </div>
    </Scrollable>
  );
}

type Place = { index: number; start: number; measure: (element: HTMLElement | null) => void };

/** Moves a chunk without drawing it again. */
function PlacedChunk({ chunk, transcript, place }: { chunk: Chunk; transcript: Transcript; place: Place }) {
  const view = useMemo(() => <ChunkView chunk={chunk} transcript={transcript} />, [chunk, transcript]);
  return (
    <div
      class="chunk"
      data-index={place.index}
      data-chunk={chunk.key}
      ref={place.measure}
      style={{ transform: `translateY(${place.start}px)` }}
    >
      {view}
    </div>
  );
}

function ChunkView({ chunk, transcript }: { chunk: Chunk; transcript: Transcript }) {
  const { preferences } = usePage();
  // Subscribes to new events of the turn, to load missing ones.
  transcript.turns.value;
  const { turnId, at } = chunk;
  if (transcript.eventsOf(chunk).value.length === 0) return <p class="entry ended">…</p>;
  const events = ownEvents(at, (one) => transcript.eventsOf(transcript.chunkAt(turnId, one)).value);
  // All events belong to a text that began in an earlier chunk.
  if (events.length === 0) return null;
  const passages = passagesOf(entriesOf(events), preferences.housekeeping.value === "shown");
  // An empty chunk needs a height, otherwise a long run of them would all be drawn at once.
  if (passages.length === 0) return <p class="entry ended">Only messages of the CLI about itself</p>;
  return (
    <>
      {passages.map((passage) => (
        <PassageView
          key={passage.type === "subagent" ? passage.call : passage.seq}
          passage={passage}
          transcript={transcript}
          turnId={turnId}
        />
      ))}
    </>
  );
}
