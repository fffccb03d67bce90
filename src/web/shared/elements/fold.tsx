import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

type FoldProps = { class: string; summary: ComponentChildren; isOpen?: boolean; children: () => ComponentChildren };

/** Draws its content only after the first unfolding. */
export function Fold({ class: name, summary, isOpen = false, children }: FoldProps) {
  const wasOpened = useSignal(isOpen);
  return (
    <details class={name} open={isOpen} onToggle={() => (wasOpened.value = true)}>
      <summary>{summary}</summary>
      {wasOpened.value && children()}
    </details>
  );
}
