import { vitalsOf } from "../../tests/support/processes/vitals.ts";

/** What a server held when it was warm and at the end, and the permitted growth. */
export type Flatness = { what: string; warm: number; end: number; mayGrowBy: number };

type Held = { rssMb: number; descriptors: number; clients: number };

const SAMPLES = 10;
const SAMPLE_EVERY_MS = 200;
/** Allows for memory that is not collected yet, and for calls in progress. */
const MAY_GROW_BY: Held = { rssMb: 48, descriptors: 60, clients: 0 };
const NAMES: Record<keyof Held, string> = {
  rssMb: "memory, MB",
  descriptors: "open files and connections",
  clients: "MCP clients remembered",
};

/** Measures a server twice; the minimum of several samples is what it really holds. */
export function createWatch(clients: () => number) {
  let warm: Held | undefined;
  let end: Held | undefined;

  async function look(pid: number): Promise<Held> {
    const samples: Held[] = [];
    for (let taken = 0; taken < SAMPLES; taken++) {
      samples.push({ ...vitalsOf(pid), clients: clients() });
      await Bun.sleep(SAMPLE_EVERY_MS);
    }
    const least = (key: keyof Held) => Math.min(...samples.map((sample) => sample[key]));
    return { rssMb: least("rssMb"), descriptors: least("descriptors"), clients: least("clients") };
  }

  return {
    async warm(pid: number): Promise<void> {
      warm = await look(pid);
    },
    async end(pid: number): Promise<void> {
      end = await look(pid);
    },
    /** Empty if the day ended early. */
    flatness(): Flatness[] {
      const [before, after] = [warm, end];
      if (!before || !after) return [];
      return (["rssMb", "descriptors", "clients"] as const).map((key) => ({
        what: NAMES[key],
        warm: Math.round(before[key]),
        end: Math.round(after[key]),
        mayGrowBy: MAY_GROW_BY[key],
      }));
    },
  };
}

export function hasGrown({ warm, end, mayGrowBy }: Flatness): boolean {
  return end - warm > mayGrowBy;
}

export function flatnessLines(flatness: Flatness[]): string[] {
  return flatness.map((one) => {
    const outcome = hasGrown(one) ? "BROKEN" : "flat";
    return `  ${one.what.padEnd(28)}  ${String(one.warm).padStart(5)} when warm, ${String(one.end).padStart(5)} at the end  ${outcome}`;
  });
}
