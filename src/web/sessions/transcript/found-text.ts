import { useEffect } from "preact/hooks";

const HIGHLIGHT = "found";
/** So many places of one entry are marked, in so much of its text. */
const MAX_RANGES = 100;
const MAX_CHARS = 200_000;

/** Marks a text wherever it stands in what is drawn, without changing that. */
export function useMarkedText(within: { current: HTMLElement | null }, text: string): void {
  useEffect(() => {
    const { current: element } = within;
    if (!element || text === "" || typeof Highlight === "undefined") return;
    let frame = 0;
    const mark = () => {
      const entries = [...element.querySelectorAll("[data-seq]")];
      CSS.highlights.set(HIGHLIGHT, new Highlight(...entries.flatMap((entry) => rangesIn(entry, text))));
    };
    const observer = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      CSS.highlights.delete(HIGHLIGHT);
    };
  }, [text]);
}

/** Where a text stands in an element, in any case, also where it goes over the borders of elements in it. */
export function rangesIn(element: Element, text: string, limit = MAX_RANGES): Range[] {
  if (text === "") return [];
  const nodes: { node: Node; from: number }[] = [];
  let whole = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && whole.length < MAX_CHARS; node = walker.nextNode()) {
    nodes.push({ node, from: whole.length });
    whole += node.nodeValue ?? "";
  }
  const [lower, wanted] = [whole.toLowerCase(), text.toLowerCase()];
  // A letter that changes its length with its case would shift all that follows.
  if (lower.length !== whole.length) return [];
  const ranges: Range[] = [];
  for (
    let at = lower.indexOf(wanted);
    at >= 0 && ranges.length < limit;
    at = lower.indexOf(wanted, at + wanted.length)
  ) {
    const [start, end] = [placeOf(nodes, at), placeOf(nodes, at + wanted.length - 1)];
    if (!start || !end) break;
    const range = document.createRange();
    range.setStart(start.node, at - start.from);
    range.setEnd(end.node, at + wanted.length - end.from);
    ranges.push(range);
  }
  return ranges;
}

function placeOf(nodes: { node: Node; from: number }[], at: number) {
  return nodes.findLast(({ from }) => from <= at);
}
