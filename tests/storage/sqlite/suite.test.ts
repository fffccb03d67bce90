import { connect, openStorage } from "../../../src/storage/sqlite/database.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { describeStorage } from "../suite/suite.ts";

// A data dir is locked by whoever serves it. The second server comes in without the lock: so two race on one database
// here, although no two ever do in use.
describeStorage("SQLite", async (onCommitted = () => {}) => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
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
