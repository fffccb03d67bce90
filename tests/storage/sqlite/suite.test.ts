import { describeStorage } from "../suite/suite.ts";
import { temporaryStorage } from "../temporary-storage.ts";

describeStorage("SQLite", temporaryStorage);
