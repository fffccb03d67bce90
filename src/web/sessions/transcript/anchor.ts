import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { TurnPlace } from "../../../contract/page-address.ts";
import { rangesIn } from "./found-text.ts";
import { CHUNK, type Transcript } from "./transcript.ts";

/** A reader this close to the end follows the end. */
const NEAR_END_PX = 80;
/** How far below the top the target comes to stand. */
const TARGET_SHARE = 0.2;

type AnchorNeed = {
  scroller: { current: HTMLElement | null };
  /** The element below the last entry, which stays on the screen. */
  end: { current: HTMLElement | null };
  transcript: Transcript;
  target: TurnPlace | undefined;
  /** Changes whenever the target must be shown again. */
  shows: number;
  /** The searched text: in the target, its first match comes into view. */
  found: string;
  /** The start of a chunk in pixels, as far as sizes are known. */
  topOf: (index: number) => number;
};

/**
 * Keeps the wanted place in view while sizes become known: the end, or the place that the address names. It stops when
 * the reader scrolls away.
 */
export function useAnchor({ scroller, end, transcript, target, shows, found, topOf }: AnchorNeed) {
  const anchor = useRef<TurnPlace | "end" | undefined>(target ?? "end");
  /** The position that we scrolled to last. Only other positions come from the reader. */
  const movedTo = useRef(-1);

  const noteMoved = () => {
    movedTo.current = scroller.current?.scrollTop ?? -1;
  };
  const hold = () => {
    const { current: element } = scroller;
    if (!element || anchor.current === undefined) return;
    if (anchor.current === "end") element.scrollTop = element.scrollHeight;
    else element.scrollTop = topOfPlace(element, anchor.current);
    noteMoved();
  };
  const topOfPlace = (element: HTMLElement, { id, seq }: TurnPlace) => {
    const at = Math.floor(seq / CHUNK);
    const index = transcript.chunks.peek().findIndex((chunk) => chunk.turnId === id && chunk.at === at);
    const chunk = element.querySelector(`[data-chunk="${CSS.escape(`${id}:${at}`)}"]`);
    if (index < 0) return element.scrollTop;
    if (!chunk) return topOf(index);
    const entry = placed(chunk, seq) ?? chunk;
    const [match] = rangesIn(entry, found, 1);
    const distance = (match ?? entry).getBoundingClientRect().top - element.getBoundingClientRect().top;
    return element.scrollTop + distance - element.clientHeight * TARGET_SHARE;
  };

  useLayoutEffect(hold);
  useEffect(() => {
    if (target) anchor.current = target;
    hold();
  }, [target?.id, target?.seq, shows, found]);
  useEffect(() => {
    const observer = new ResizeObserver(hold);
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, []);

  return {
    noteMoved,
    onScroll(): void {
      const { current: element } = scroller;
      if (!element || Math.abs(element.scrollTop - movedTo.current) < 1) return;
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      anchor.current = left < NEAR_END_PX ? "end" : undefined;
    },
  };
}

/** The entry at this number, or the closest one before it if that event is not shown. */
function placed(chunk: Element, seq: number): Element | undefined {
  const entries = [...chunk.querySelectorAll<HTMLElement>("[data-seq]")];
  return entries.findLast((entry) => Number(entry.dataset["seq"]) <= seq) ?? entries[0];
}
