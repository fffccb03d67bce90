import { useSignal } from "@preact/signals";
import { Scrollable } from "./scrollable.tsx";
import { Visible } from "./visible.tsx";

/** Longer texts show only head and tail at first. */
export const SHOWN_WHOLE = 6_000;
const HEAD = 3_500;
const TAIL = 1_500;
/** Long texts are split, because the browser lays out only the pieces on the screen. */
const PIECE = 16_000;

/** A text in full, or its head and tail with a button for the rest. */
export function LongText({ text, label }: { text: string; label: string }) {
  const isOpen = useSignal(false);
  if (text.length <= SHOWN_WHOLE) return <Block text={text} label={label} />;
  if (isOpen.value) {
    return (
      <div class="long-text">
        {pieces(text).map((piece) => (
          <Block key={piece.at} text={piece.text} label={label} />
        ))}
      </div>
    );
  }
  const left = text.length - HEAD - TAIL;
  return (
    <div class="long-text">
      <Block text={text.slice(0, HEAD)} label={`${label}, its beginning`} />
      <button type="button" class="unfold" onClick={() => (isOpen.value = true)}>
        Show the {left.toLocaleString()} characters between
      </button>
      <Block text={text.slice(-TAIL)} label={`${label}, its end`} />
    </div>
  );
}

function Block({ text, label }: { text: string; label: string }) {
  return (
    <Scrollable class="code-scroll" label={label}>
      <pre class="code">
        <Visible text={text} />
      </pre>
    </Scrollable>
  );
}

function pieces(text: string): { at: number; text: string }[] {
  const found: { at: number; text: string }[] = [];
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf("\n", at + PIECE);
    const end = lineEnd >= 0 && lineEnd < at + 2 * PIECE ? lineEnd + 1 : Math.min(text.length, at + PIECE);
    found.push({ at, text: text.slice(at, end) });
    at = end;
  }
  return found;
}
