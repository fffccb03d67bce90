import type { Reader } from "../../storage/readers.ts";

/** What is remembered of requests; beyond it the oldest is forgotten, and told again like a new one. */
const MAX_REQUESTS = 2_000;
const MAX_READERS = 20;
const MAX_SPANS = 50;

/** A part of the text of a request's input: from this offset up to, not including, that one. */
type Span = { from: number; to: number };
type Told = {
  /** Those that were told as much as one answer can hold. */
  readers: Set<string>;
  spans: Span[];
  /** Every character was told, by whatever answers. */
  isWhole: boolean;
};

/** What a reader knows of a request. */
export type Known = {
  /** It was told this reader before, as far as one answer can hold it. */
  isTold: boolean;
  /** The owner was told every character of its input. */
  isWhole: boolean;
};

export type ToldRequests = ReturnType<typeof createToldRequests>;

/**
 * What agents were told of long requests: none is told in full twice to one reader, and whoever allows one of which they
 * know a part is told so. It is kept in memory only: after a restart each request is told in full once more.
 */
export function createToldRequests() {
  const requests = new Map<string, Told>();

  const keyOf = ({ owner }: Pick<Reader, "owner">, id: string) => `${owner} ${id}`;

  /** The record of a request, which is now the last to be forgotten. */
  function noted(reader: Pick<Reader, "owner">, id: string): Told {
    const key = keyOf(reader, id);
    const told = requests.get(key) ?? { readers: new Set(), spans: [], isWhole: false };
    requests.delete(key);
    requests.set(key, told);
    const [oldest] = requests.keys();
    if (requests.size > MAX_REQUESTS && oldest !== undefined) requests.delete(oldest);
    return told;
  }

  return {
    /** `undefined` if nothing is known: the request is short, or was not told. */
    known(reader: Pick<Reader, "owner" | "consumer">, id: string): Known | undefined {
      const told = requests.get(keyOf(reader, id));
      return told && { isTold: told.readers.has(reader.consumer), isWhole: told.isWhole };
    },

    /** An answer told the input, up to `cutAt` if it was cut; `isAll`: no answer could tell more of it. */
    told(reader: Reader, id: string, { cutAt, isAll }: { cutAt: number | undefined; isAll: boolean }): void {
      const told = noted(reader, id);
      if (isAll && told.readers.size < MAX_READERS) told.readers.add(reader.consumer);
      if (cutAt === undefined) told.isWhole = true;
      else told.spans = merged([...told.spans, { from: 0, to: cutAt }]);
    },

    /** An answer told a slice of the input's text, which has `total` characters. */
    read(reader: Reader, id: string, span: Span, total: number): void {
      const told = noted(reader, id);
      told.spans = merged([...told.spans, span]);
      const [first] = told.spans;
      if (first && first.from <= 0 && first.to >= total) told.isWhole = true;
    },
  };
}

/** In order, and as few as possible; the last ones are dropped if there are too many. */
function merged(spans: Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = apart.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else apart.push({ ...span });
  }
  return apart.slice(0, MAX_SPANS);
}
