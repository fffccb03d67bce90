/** Does `work` when called: one at a time, and once more when it was called meanwhile, so that no call is lost. */
export function createRepeatedWork(work: () => Promise<void>): () => void {
  let isCalled = false;
  let isAtWork = false;

  async function go(): Promise<void> {
    isAtWork = true;
    try {
      while (isCalled) {
        isCalled = false;
        await work();
      }
    } finally {
      isAtWork = false;
    }
  }

  return () => {
    isCalled = true;
    if (!isAtWork) void go();
  };
}
