import { createRandom } from "../random.ts";

/** Outside of the range that connections take theirs from: one of those could take the port while no server holds it. */
export function freePort(random = createRandom(crypto.randomUUID())): number {
  for (;;) {
    const port = random.between(20_000, 32_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Somebody has it.
    }
  }
}
