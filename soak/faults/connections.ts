const AT_ONCE = 200;

export type Connections = Disposable & {
  count: number;
  /** How many the server has closed. */
  closed(): number;
  /** How many have been sent anything. */
  answered(): number;
  write(text: string): void;
};

/** So many connections, on each of which these bytes are sent, and nothing more. */
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
