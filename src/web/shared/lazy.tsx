import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

type LoadState<T> = "loading" | "failed" | { value: T };

/** Shown until the component is loaded, and if loading fails. */
type Waiting<Props> = ComponentType<Props & { hasFailed: boolean }>;

/** Loads code on first use. After a failure, the next use tries again. */
function createLoader<T>(load: () => Promise<T>) {
  const state = signal<LoadState<T>>("loading");

  /** The browser fetches a file only once, however many callers there are. */
  async function begin(): Promise<void> {
    if (typeof state.peek() === "object") return;
    try {
      state.value = { value: await load() };
    } catch {
      state.value = "failed";
    }
  }

  return function useLoaded(isWanted = true): LoadState<T> {
    useEffect(() => {
      if (isWanted) void begin();
    }, [isWanted]);
    return state.value;
  };
}

/** A value that is loaded on first use; `undefined` until then. */
export function lazyValue<T>(load: () => Promise<T>): (isWanted?: boolean) => T | undefined {
  const useLoaded = createLoader(load);
  return function useValue(isWanted) {
    const current = useLoaded(isWanted);
    return typeof current === "object" ? current.value : undefined;
  };
}

/** A component whose code is loaded when it is first shown. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Waiting: Waiting<Props>,
): ComponentType<Props> {
  const useLoaded = createLoader(load);
  return function Lazy(props: Props) {
    const current = useLoaded();
    if (typeof current === "object") return <current.value {...props} />;
    return <Waiting {...props} hasFailed={current === "failed"} />;
  };
}

/** A whole page of the application. Shows its title until it is loaded. */
export function lazyPage(title: string, load: () => Promise<ComponentType>): ComponentType {
  return lazy(load, ({ hasFailed }) => (
    <main class="page">
      <h1 class="unseen">{title}</h1>
      <p class="nothing" role="status">
        {hasFailed ? "This part of the page could not be loaded. Reload the page." : "Loading…"}
      </p>
    </main>
  ));
}
