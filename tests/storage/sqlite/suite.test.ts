import { describeStorage } from "../suite/suite.ts";
import { temporaryStorage } from "./temporary-storage.ts";

// A data dir is locked by whoever serves it, so that there is no second connection to race over.
describeStorage("SQLite", async (onCommitted) => {
  const storage = await temporaryStorage(onCommitted);
  return { storage, [Symbol.asyncDispose]: storage[Symbol.asyncDispose] };
});
