import { openStorage } from "../../../src/storage/sqlite/database.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { describeStorage } from "../suite/suite.ts";

// A data dir is locked by whoever serves it, so that there is no second connection to race over.
describeStorage("SQLite", async (onCommitted = () => {}) => {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  let storage = openStorage(directory.path, onCommitted);
  stack.defer(() => storage[Symbol.dispose]());
  const owned = stack.move();
  return {
    storage,
    async reopen() {
      storage[Symbol.dispose]();
      storage = openStorage(directory.path, onCommitted);
      return storage;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
});
