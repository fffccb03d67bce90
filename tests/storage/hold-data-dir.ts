import { openStorage } from "../../src/storage/database.ts";

/** A process of its own that holds the data dir it is told, says so, and stays until it is killed. */
openStorage(process.argv[2] ?? "", () => {});
console.log("held");
setInterval(() => {}, 60_000);
