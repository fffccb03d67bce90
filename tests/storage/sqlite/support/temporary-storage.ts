import type { Change } from "../../../../src/contract/change.ts";
import { openStorage } from "../../../../src/storage/sqlite/database.ts";
import type { Storage } from "../../../../src/storage/storage.ts";
import { temporaryDataDir } from "../../../support/temporary-data-dir.ts";

export type TemporaryStorage = Omit<Storage, typeof Symbol.dispose> & AsyncDisposable & { dataDir: string };

/** Storage on a data dir that is deleted with it. */
export async function temporaryStorage(onCommitted: (changes: Change[]) => void = () => {}): Promise<TemporaryStorage> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDataDir());
  const storage = stack.use(openStorage(directory.path, onCommitted));
  const owned = stack.move();
  return { ...storage, dataDir: directory.path, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
