/** One line of the CLI's output, or the length of one that is too long to be held; `offset` is the byte after it. */
export type OutputLine = { line: string | { oversized: number }; offset: number };

export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const NEWLINE = 10;

/** Cuts bytes into lines and never holds more than one line of the greatest length; broken UTF-8 is replaced. */
export function createLineSplitter(fromOffset = 0) {
  let pieces: Buffer[] = [];
  let held = 0;
  let length = 0;
  let offset = fromOffset;

  const take = (bytes: Buffer) => {
    length += bytes.length;
    if (length > MAX_LINE_BYTES) {
      pieces = [];
      held = 0;
      return;
    }
    pieces.push(bytes);
    held += bytes.length;
  };

  const finish = (): OutputLine => {
    const line = length > MAX_LINE_BYTES ? { oversized: length } : joined(pieces, held).toString("utf8");
    pieces = [];
    held = 0;
    length = 0;
    return { line, offset };
  };

  return {
    /** The lines that end in these bytes; the bytes may be overwritten afterwards. */
    push(bytes: Buffer): OutputLine[] {
      const lines: OutputLine[] = [];
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        take(bytes.subarray(start, end));
        offset += end + 1 - start;
        lines.push(finish());
        start = end + 1;
      }
      const rest = bytes.subarray(start);
      offset += rest.length;
      if (rest.length > 0) take(length + rest.length > MAX_LINE_BYTES ? rest : Buffer.from(rest));
      return lines;
    },
    /** The line that was begun and never ended, where there is one. */
    end(): OutputLine | undefined {
      return length === 0 ? undefined : finish();
    },
  };
}

function joined(pieces: Buffer[], length: number): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces, length);
}
