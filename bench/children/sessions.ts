import { type Latency, ms, type Row, times } from "../measure.ts";
import { polling } from "../poll.ts";
import { childrenAtOnce } from "./children.ts";
import { storedTranscripts } from "./stored-transcript.ts";

const MEGABYTE = 1024 * 1024;
const EVENTS = 100_000;
const EARLIER_TURNS = 1_000;

export type Figures = { title: string; rows: Row[] };

/** Measures how fast a child may write, and the memory that the server needs for it. */
export async function transcriptFigures(): Promise<Figures> {
  const [short, long] = await storedTranscripts([50, 200]);
  if (!short || !long) throw new Error("nothing was measured");
  const growth = long.peakBytes / short.peakBytes;
  const rows: Row[] = [
    {
      what: "the same lines parsed and copied to a file, by a loop",
      measured: `${long.referencePerSecond.toFixed(0)} MB/s`,
    },
    {
      what: `${long.events} events of ${long.megabytes.toFixed(0)} MB stored`,
      measured: `${long.perSecond.toFixed(0)} MB/s = ${times(long.perSecond / long.referencePerSecond)} the loop`,
      goal: "≥ 50 MB/s",
      met: long.perSecond >= 50,
    },
    { what: "by the server's processor time", measured: `${long.perProcessorSecond.toFixed(0)} MB/s` },
    ...[short, long].map(({ megabytes, baseBytes, peakBytes }) => ({
      what: `memory before and at most, ${megabytes.toFixed(0)} MB`,
      measured: `${(baseBytes / MEGABYTE).toFixed(0)} → ${(peakBytes / MEGABYTE).toFixed(0)} MB`,
    })),
    {
      what: "at most, for four times as much",
      measured: times(growth),
      goal: "≤ 1.5 ×",
      met: growth <= 1.5,
    },
  ];
  return { title: "(f) A child's transcript parsed and stored (synchronous=FULL)", rows };
}

export async function pollFigures(): Promise<Figures> {
  const { few, manyEvents, manyTurns } = await polling({ events: EVENTS, turns: EARLIER_TURNS }, 1_000);
  const compared = (what: string, base: Latency, measured: Latency): Row => ({
    what,
    measured: `${ms(measured.p50)} = ${times(measured.p50 / base.p50)}`,
    goal: "≤ 1.2 ×",
    met: measured.p50 / base.p50 <= 1.2,
  });
  const rows = [
    {
      what: "10 events stored, at the end / from the middle, p50",
      measured: `${ms(few.atEnd.p50)} / ${ms(few.inMiddle.p50)}`,
    },
    compared(`${EVENTS} events, at the end`, few.atEnd, manyEvents.atEnd),
    compared(`${EVENTS} events, from the middle`, few.inMiddle, manyEvents.inMiddle),
    compared(`${EARLIER_TURNS} earlier turns, at the end`, few.atEnd, manyTurns.atEnd),
    compared(`${EARLIER_TURNS} earlier turns, from the middle`, few.inMiddle, manyTurns.inMiddle),
  ];
  return { title: "(g) `claudecode_poll`, two events at the most", rows };
}

export async function childrenFigures(): Promise<Figures> {
  const found = await childrenAtOnce(20, 10);
  const { count, aloneMs, togetherMs, startsMs } = found;
  const perChild = togetherMs / count;
  const rows: Row[] = [
    { what: `${count} of the child's program started at once, without us`, measured: ms(startsMs) },
    { what: "one child alone: started, asked, decided, complete", measured: ms(aloneMs) },
    {
      what: `all ${count} at once, until the last is complete`,
      measured: `${ms(togetherMs)} = ${times(togetherMs / startsMs)} the starts; ${ms(perChild)} a child`,
      goal: "a child ≤ one alone",
      met: perChild <= aloneMs,
    },
    {
      what: "events stored",
      measured: `${found.events} of ${found.expectedEvents}`,
      goal: "all",
      met: found.events === found.expectedEvents,
    },
    {
      what: "memory before and at most",
      measured: `${(found.baseBytes / MEGABYTE).toFixed(0)} → ${(found.peakBytes / MEGABYTE).toFixed(0)} MB`,
    },
  ];
  return { title: `(h) ${count} scripted children at once, a turn with an ask each`, rows };
}
