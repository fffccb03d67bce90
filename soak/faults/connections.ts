const AT_ONCE = 200;

export type Connections = Disposable & {
  count: number;
  /** Returns how many the server has closed. */
  closed(): number;
  /** Returns how many have received anything. */
  answered(): number;
  write(text: string): void;
};

/** Opens this many connections, and sends only these bytes on each. */
export async function openConnections(url: string, count: number, first: string): Promise<Connections> {
  const { hostname, port } = new URL(url);
  const open = new Set<Bun.Socket<{ isAnswered: boolean }>>();
  let closed = 0;
  let answered = 0;
  const connect = () =>
    Bun.connect({
      hostname,
      port: Number(port),
      data: { isAnswered: false },
      socket: {
        open(socket) {
          open.add(socket);
          socket.write(first);
        },
        data(socket) {
          if (!socket.data.isAnswered) answered++;
          socket.data.isAnswered = true;
        },
        close(socket) {
          if (open.delete(socket)) closed++;
        },
        error() {},
      },
    });
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - made) }, connect));
  }
  return {
    count,
    closed: () => closed,
    answered: () => answered,
    write(text) {
      for (const socket of open) socket.write(text);
    },
    [Symbol.dispose]() {
      const left = [...open];
      open.clear();
      for (const socket of left) socket.terminate();
    },
  };
}
