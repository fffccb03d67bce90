/** A piece of a line that is too long to keep in memory; all its pieces joined are the line. */
type LinePiece = { piece: string; isFirst: boolean };

/** One line of the CLI's output, or a piece of one; `offset` is the byte after it. */
export type OutputLine = { line: string | LinePiece; offset: number };

export const NEWLINE = 10;

const MEGABYTE = 1024 * 1024;
const LIMITS = { lineBytes: 16 * MEGABYTE, pieceBytes: MEGABYTE };

/**
 * Splits bytes into lines and buffers at most `lineBytes`. A longer line is yielded in pieces as it arrives. Broken
 * UTF-8 is replaced. `isInside`: the first bytes continue such a line.
 */
export function createLineSplitter(fromOffset = 0, isInside = false, limits = LIMITS) {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isTooLong = isInside;
  let offset = fromOffset;

  function hold(bytes: Buffer): void {
    if (bytes.length > 0) held.push(Buffer.from(bytes));
    heldBytes += bytes.length;
  }

  /** Empties the buffer and returns it with these bytes appended. */
  function joined(bytes: Buffer): Buffer {
    const whole = heldBytes === 0 ? bytes : Buffer.concat([...held, bytes], heldBytes + bytes.length);
    held = [];
    heldBytes = 0;
    return whole;
  }

  /** Yields the bytes before `end` in pieces; an incomplete character stays in the buffer. */
  function* pieces(bytes: Buffer, end: number, isLast: boolean): Generator<OutputLine> {
    let left = bytes;
    while (left.length > 0) {
      const next = left.subarray(0, limits.pieceBytes);
      const length = isLast && next.length === left.length ? next.length : wholeCharacters(next);
      if (length === 0) break;
      left = left.subarray(length);
      const piece = next.toString("utf8", 0, length);
      yield { line: { piece, isFirst: !isTooLong }, offset: end - left.length };
      isTooLong = true;
    }
    hold(left);
  }

  function* ended(bytes: Buffer, end: number): Generator<OutputLine> {
    const whole = joined(bytes);
    if (isTooLong) yield* pieces(whole, end, true);
    else yield { line: whole.toString("utf8"), offset };
    isTooLong = false;
  }

  return {
    /** Yields the lines that these bytes complete; the bytes may be overwritten once all lines are taken. */
    *push(bytes: Buffer): Generator<OutputLine> {
      const begin = offset;
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        offset = begin + end + 1;
        if (heldBytes === 0 && !isTooLong) yield { line: bytes.toString("utf8", start, end), offset };
        else yield* ended(bytes.subarray(start, end), begin + end);
        start = end + 1;
      }
      const rest = bytes.subarray(start);
      offset = begin + bytes.length;
      if (isTooLong || heldBytes + rest.length > limits.lineBytes) yield* pieces(joined(rest), offset, false);
      else hold(rest);
    },
    /** Yields the last line, if it has no newline at its end. */
    end: (): Iterable<OutputLine> => (heldBytes === 0 ? [] : ended(Buffer.alloc(0), offset)),
  };
}

/** How many of the bytes are complete characters: the last character may continue in the next chunk. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
