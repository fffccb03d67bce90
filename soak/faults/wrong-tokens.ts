import { vitalsOf } from "../../tests/support/processes/vitals.ts";
import type { Finding, Size } from "./finding.ts";
import { isBearable, ratioOf, startRig } from "./rig.ts";

const AT_ONCE = 32;
const WARM_UP = 2_000;
const MAX_GROWTH_MB = 40;

/** Tests a caller that guesses tokens as fast as the server answers. */
export async function wrongTokens({ wrongTokens }: Size): Promise<Finding[]> {
  await using rig = await startRig();
  const waiting = await rig.ask();
  const counts = new Map<number, number>();
  const guess = async (token: string) => {
    const response = await fetch(`${rig.server.url}/api/v1/approvals`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.body?.cancel();
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
  };
  const guessMany = async (count: number) => {
    let left = count;
    const one = async () => {
      while (left-- > 0) await guess(`plx_${crypto.randomUUID()}_${crypto.randomUUID()}`);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  };

  await guessMany(WARM_UP);
  const before = await rig.latency();
  const start = vitalsOf(rig.server.pid);
  const guessing = guessMany(wrongTokens);
  const during = await rig.latency(100);
  await guessing;
  const end = vitalsOf(rig.server.pid);
  const decided = await rig.allow(waiting.id);
  const [refused = 0, limited = 0] = [counts.get(401), counts.get(429)];
  return [
    {
      promised: `${wrongTokens} wrong tokens get 401, and 429 after the first hundred in 10 s`,
      happened: `${refused} × 401, ${limited} × 429`,
      kept: refused + limited === wrongTokens + WARM_UP && refused >= 100 && limited > refused,
    },
    {
      promised: "a valid token is not refused, nor delayed by the limit",
      happened: `other calls took ${ratioOf(during, before)}, with ${AT_ONCE} guesses at once; the decision ${decided.status}`,
      kept: isBearable(during, before) && decided.status === 200,
    },
    {
      promised: "memory is flat",
      happened: `${start.rssMb.toFixed(0)} → ${end.rssMb.toFixed(0)} MB, ${start.descriptors} → ${end.descriptors} files`,
      kept: end.rssMb - start.rssMb < MAX_GROWTH_MB,
    },
  ];
}
