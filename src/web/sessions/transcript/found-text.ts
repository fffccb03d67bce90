import { useEffect } from "preact/hooks";

const HIGHLIGHT = "found";
/** The number of matches to mark in one entry, and the length of text to search. */
const MAX_RANGES = 100;
const MAX_CHARS = 200_000;

/** Marks every match of a text in the drawn elements without changing the DOM. */
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

/** The matches of a text in an element, ignoring case, even across the borders of inner elements. */
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
  // If a letter changes length with its case, all later positions would be wrong.
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
