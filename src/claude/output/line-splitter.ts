/** A piece of a line that is too long to be held: together, its pieces are the line. */
export type LinePiece = { piece: string; isFirst: boolean };

/** One line of the CLI's output, or a piece of one; `offset` is the byte after it. */
export type OutputLine = { line: string | LinePiece; offset: number };

export const NEWLINE = 10;

const MEGABYTE = 1024 * 1024;
const LIMITS = { lineBytes: 16 * MEGABYTE, pieceBytes: MEGABYTE };

/**
 * Cuts bytes into lines and holds no more than one line of the greatest length: a longer one is given by the piece, as
 * it comes. Broken UTF-8 is replaced. `isInside` says that the first bytes go on with such a line.
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

  /** What was held, and these bytes behind it. */
  function joined(bytes: Buffer): Buffer {
    const whole = heldBytes === 0 ? bytes : Buffer.concat([...held, bytes], heldBytes + bytes.length);
    held = [];
    heldBytes = 0;
    return whole;
  }

  /** Gives the bytes before `end` by the piece; a character that is not complete is held. */
  function* give(bytes: Buffer, end: number, isLast: boolean): Generator<OutputLine> {
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
    if (isTooLong) yield* give(whole, end, true);
    else yield { line: whole.toString("utf8"), offset };
    isTooLong = false;
  }

  return {
    /** What is complete with these bytes; they may be overwritten once all of it was taken. */
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
      if (isTooLong || heldBytes + rest.length > limits.lineBytes) yield* give(joined(rest), offset, false);
      else hold(rest);
    },
    /** What was begun and never ended. */
    end: (): Iterable<OutputLine> => (heldBytes === 0 ? [] : ended(Buffer.alloc(0), offset)),
  };
}

/** How many of the bytes are whole characters: the last one may go on in what comes next. */
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
