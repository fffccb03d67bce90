import { startPaced } from "../../tests/http/support/paced-server.ts";
import { OPERATOR_TOKEN, startPlexus } from "../../tests/support/server/plexus.ts";
import { until } from "../../tests/support/until.ts";
import { type Connections, openConnections } from "./connections.ts";
import type { Finding, Size } from "./finding.ts";

/** Short, so that a test can wait for it; a real server has 60 s. For headers, the limit is always ten seconds. */
const PACE = { idleSecs: 2, keepAliveMs: 1_000 };
const DRIBBLE_MS = 400;
const CUT_OFF_WITHIN_MS = 40_000;

/** Tests callers that never finish their request. */
export async function slowLoris({ dribblers }: Size): Promise<Finding[]> {
  await using plexus = await startPlexus();
  await using server = startPaced(plexus.app, PACE);
  const host = `Host: ${new URL(server.url).host}\r\n`;
  const post = `POST /api/v1/tokens HTTP/1.1\r\n${host}Authorization: Bearer ${OPERATOR_TOKEN}\r\nContent-Type: application/json\r\n`;
  using headers = await openConnections(server.url, dribblers, `GET /healthz HTTP/1.1\r\n${host}`);
  using bodies = await openConnections(server.url, dribblers, `${post}Content-Length: 1000000\r\n\r\n`);
  using chunks = await openConnections(server.url, dribblers, `${post}Transfer-Encoding: chunked\r\n\r\n`);
  const timer = setInterval(() => {
    headers.write("X-A: b\r\n");
    bodies.write(" ");
    chunks.write("1\r\n \r\n");
  }, DRIBBLE_MS);
  const startedAt = performance.now();
  let served = 0;
  let refused = 0;
  try {
    const all = [headers, bodies, chunks];
    const took: number[] = [];
    await until(
      "all of them to be cut off",
      async () => {
        const response = await fetch(`${server.url}/healthz`);
        if (response.status === 200) served++;
        else refused++;
        for (const [index, one] of all.entries()) if (isCutOff(one)) took[index] ??= performance.now() - startedAt;
        return all.every(isCutOff);
      },
      CUT_OFF_WITHIN_MS,
    ).catch(() => {});
    return all.map((one, index) => ({
      promised: `${dribblers} callers that send ${["headers", "a body", "chunks"][index]} bit by bit are cut off`,
      happened: `${one.closed()} were, the last after ${((took[index] ?? Number.NaN) / 1000).toFixed(0)} s; others were served ${served} times, refused ${refused} times`,
      kept: isCutOff(one) && served > 0 && refused === 0,
    }));
  } finally {
    clearInterval(timer);
  }
}

function isCutOff(connections: Connections): boolean {
  return connections.closed() === connections.count;
}
