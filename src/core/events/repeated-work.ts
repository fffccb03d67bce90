/**
 * Returns a function that runs `work`, one run at a time. Calls during a run cause one more run, so no call is lost.
 */
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
