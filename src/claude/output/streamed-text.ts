/** A text or thinking block that is being streamed, and how many of its characters were emitted. */
type Streamed = { kind: "text" | "thinking"; index: number; chars: number };

export type StreamedTextState = { messageId: string; blocks: Streamed[] };

/** Counts how much of the current message was streamed: the complete block follows and must only add the rest. */
export function createStreamedText(state: StreamedTextState = { messageId: "", blocks: [] }) {
  let { messageId } = state;
  let blocks = state.blocks.map((block) => ({ ...block }));
  return {
    begin(id: string): void {
      messageId = id;
      blocks = [];
    },
    add(kind: Streamed["kind"], index: number, text: string): void {
      const block = blocks.find((streamed) => streamed.kind === kind && streamed.index === index);
      if (block) block.chars += text.length;
      else blocks.push({ kind, index, chars: text.length });
    },
    /** The part of the complete text that was not streamed; blocks complete in the order in which they began. */
    rest(kind: Streamed["kind"], id: string, text: string): string {
      if (id !== messageId) return text;
      const at = blocks.findIndex((streamed) => streamed.kind === kind);
      const [block] = at < 0 ? [] : blocks.splice(at, 1);
      return block ? text.slice(block.chars) : text;
    },
    state: (): StreamedTextState => ({ messageId, blocks: blocks.map((block) => ({ ...block })) }),
  };
}
