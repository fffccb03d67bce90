import { createRandom } from "../random.ts";

/** Outside of the range for outgoing connections: one of these could take the port while no server holds it. */
export function freePort(random = createRandom(crypto.randomUUID())): number {
  for (;;) {
    const port = random.between(20_000, 32_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // The port is in use.
    }
  }
}
