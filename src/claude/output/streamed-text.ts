/** A text or thinking block that is being streamed: how much of it has been told already. */
type Streamed = { kind: "text" | "thinking"; index: number; chars: number };

export type StreamedTextState = { messageId: string; blocks: Streamed[] };

/**
 * Remembers what was streamed of the message that is being written, by length alone, so that the complete block,
 * which follows, adds only what was not.
 */
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
    /** What of the complete text is still to be told; blocks are completed in the order of their beginning. */
    rest(kind: Streamed["kind"], id: string, text: string): string {
      if (id !== messageId) return text;
      const at = blocks.findIndex((streamed) => streamed.kind === kind);
      const [block] = at < 0 ? [] : blocks.splice(at, 1);
      return block ? text.slice(block.chars) : text;
    },
    state: (): StreamedTextState => ({ messageId, blocks: blocks.map((block) => ({ ...block })) }),
  };
}
