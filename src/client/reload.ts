type Reloadable = { reload: () => Promise<void>; refresh: () => Promise<void> };
type ReloadNeed = { list: Reloadable; afterMs: number; signal: AbortSignal };

/** Keeps a list up to date while somebody watches it; many changes at once cause one reload. */
export function createReload({ list, afterMs, signal }: ReloadNeed) {
  let watchers = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  return {
    /** Starts watching; returns a function that stops it. */
    watch(): () => void {
      watchers++;
      void list.reload();
      return () => {
        watchers--;
      };
    },
    /** Call when the list may be outdated. */
    soon(): void {
      if (watchers === 0 || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void list.refresh();
      }, afterMs);
    },
  };
}
