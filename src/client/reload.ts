type Reloadable = { reload: () => Promise<void>; refresh: () => Promise<void> };
type ReloadNeed = { list: Reloadable; afterMs: number; signal: AbortSignal };

/** Keeps a list what the server has for as long as somebody looks at it; many changes at once are one reload. */
export function createReload({ list, afterMs, signal }: ReloadNeed) {
  let watchers = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return {
    /** Somebody looks at it, until they call what this returns. */
    watch(): () => void {
      watchers++;
      void list.reload();
      return () => {
        watchers--;
      };
    },
    /** What is listed may not be so any more. */
    soon(): void {
      if (watchers === 0 || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void list.refresh();
      }, afterMs);
    },
  };
}
