import { respond } from "./decision-latency.ts";
import { ANSWERED, askedIn, connect, permitRequest } from "./server/connection.ts";
import type { BenchServer } from "./server/server-process.ts";

/** Measures requests filed and decided per second, each decision on disk before it is answered. */
export async function throughput(server: BenchServer, inFlight: number, total: number): Promise<number> {
  const tokens = await server.children(inFlight);
  let left = total;
  const start = performance.now();
  await Promise.all(
    tokens.map(async (token) => {
      const child = await connect(server.port);
      const decider = await connect(server.port);
      while (left-- > 0) {
        const approvalId = askedIn(
          await child.request(permitRequest(token, `toolu_${left}`), "notifications/progress"),
        );
        const answered = child.read(ANSWERED);
        await respond(decider, approvalId);
        await answered;
      }
      child.close();
      decider.close();
    }),
  );
  return total / ((performance.now() - start) / 1000);
}
