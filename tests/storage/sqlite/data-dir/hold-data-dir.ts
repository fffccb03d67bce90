import { openStorage } from "../../../../src/storage/sqlite/database.ts";

/** A process of its own that holds the data dir it is told, says so, and stays until it is killed. */
const storage = openStorage(process.argv[2] ?? "", () => {});
console.log("held");
// Collected as garbage, it would let go of the directory.
setInterval(() => storage.newId, 60_000);
