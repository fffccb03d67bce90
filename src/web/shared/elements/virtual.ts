import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

type Options = Pick<
  VirtualizerOptions<HTMLElement, HTMLElement>,
  "count" | "getScrollElement" | "estimateSize" | "getItemKey"
> &
  Partial<Pick<VirtualizerOptions<HTMLElement, HTMLElement>, "overscan" | "scrollToFn">>;

/** Draws only the items of a long list that are on the screen. */
export function useVirtual(options: Options): Virtualizer<HTMLElement, HTMLElement> {
  const [, redraw] = useReducer((times: number, _: undefined) => times + 1, 0);
  const resolved: VirtualizerOptions<HTMLElement, HTMLElement> = {
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(undefined),
    ...options,
  };
  const [virtualizer] = useState(() => new Virtualizer(resolved));
  virtualizer.setOptions(resolved);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
