import { openStorage } from "../../../../src/storage/sqlite/database.ts";

/** A separate process that locks the given data dir, prints "held", and runs until it is killed. */
const storage = openStorage(process.argv[2] ?? "", () => {});
console.log("held");
// Keep a reference: garbage collection would release the lock.
setInterval(() => storage.newId, 60_000);
