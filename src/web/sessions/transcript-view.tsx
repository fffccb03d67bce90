import { elementScroll } from "@tanstack/virtual-core";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { usePage } from "../context.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { useVirtual } from "../shared/elements/virtual.ts";
import { entriesOf, passagesOf } from "./entries.ts";
import { PassageView } from "./entry.tsx";
import { SessionRequests } from "./session-requests.tsx";
import type { Chunk, Transcript } from "./transcript.ts";

const ESTIMATED_PX = 800;
/** A reader this near to the end wants to stay there. */
const NEAR_END_PX = 80;

/** A transcript of any length: only what is on the screen is read and drawn. */
export function TranscriptView({ transcript, sessionId }: { transcript: Transcript; sessionId: string }) {
  const scroller = useRef<HTMLElement>(null);
  /** What stands below the last entry, and stays on the screen. */
  const end = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /** What moves because its size became known was not moved by the person. */
  const isOurs = useRef(false);
  const chunks = transcript.chunks.value;
  const rows = useVirtual({
    count: chunks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATED_PX,
    // The same function for the same chunks, or every size would be looked up again.
    getItemKey: useCallback((index: number) => chunks[index]?.key ?? index, [chunks]),
    overscan: 1,
    scrollToFn: (...given) => {
      isOurs.current = true;
      elementScroll(...given);
    },
  });
  const onScroll = () => {
    const { current: element } = scroller;
    const wasOurs = isOurs.current;
    isOurs.current = false;
    if (element && !wasOurs)
      isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
  };
  const height = rows.getTotalSize();
  const stayAtEnd = () => {
    const { current: element } = scroller;
    if (!element || !isAtEnd.current) return;
    isOurs.current = true;
    element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(stayAtEnd, [height]);
  useEffect(() => {
    const observer = new ResizeObserver(stayAtEnd);
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, []);
  return (
    <Scrollable class="transcript" scroller={scroller} role="log" label="Transcript" onScroll={onScroll}>
      <div class="transcript-all" style={{ height: `${height}px` }}>
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
      ref={place.measure}
      style={{ transform: `translateY(${place.start}px)` }}
    >
      {view}
    </div>
  );
}

function ChunkView({ chunk, transcript }: { chunk: Chunk; transcript: Transcript }) {
  const { preferences } = usePage();
  // Looked at again with every new event of the turn, so that what is missing is fetched.
  transcript.turns.value;
  const events = transcript.eventsOf(chunk).value;
  const passages = passagesOf(entriesOf(events), preferences.housekeeping.value === "shown");
  if (events.length === 0) return <p class="entry ended">…</p>;
  // Never without a height, or all chunks of a long run would have to be drawn at once.
  if (passages.length === 0) return <p class="entry ended">Only messages of the CLI about itself</p>;
  return (
    <>
      {passages.map((passage, at) => (
        <PassageView key={at} passage={passage} transcript={transcript} turnId={chunk.turnId} />
      ))}
    </>
  );
}
