import { connect, openStorage } from "../../../src/storage/sqlite/database.ts";
import { temporaryDataDir } from "../../support/temporary-data-dir.ts";
import { describeStorage } from "../suite/suite.ts";

// The second server opens the database without the data dir's lock, so that the two can race here. In use, the lock
// prevents that.
describeStorage("SQLite", async (onCommitted = () => {}) => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDataDir());
  const opened = new Set<Disposable>();
  const closeAll = () => {
    for (const one of opened) one[Symbol.dispose]();
    opened.clear();
  };
  stack.defer(closeAll);
  const kept = <T extends Disposable>(one: T): T => {
    opened.add(one);
    return one;
  };
  let at = Date.now();
  const shared = (dataDirId?: string) =>
    connect(directory.path, { onCommitted, now: () => at, isAlone: false, ...(dataDirId && { dataDirId }) });
  const storage = kept(shared());
  const owned = stack.move();
  return {
    storage,
    connect: async () => kept(shared("another")),
    advance(ms) {
      at += ms;
    },
    async reopen() {
      closeAll();
      const next = kept(openStorage(directory.path, onCommitted));
      await next.servers.renew(1_000);
      return next;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
});
