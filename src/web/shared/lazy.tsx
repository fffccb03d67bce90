import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

type LoadState<T> = "loading" | "failed" | { value: T };

/** What stands there until the component has come, and stays where it can't be fetched. */
type Waiting<Props> = ComponentType<Props & { hasFailed: boolean }>;

/** Fetches code when a component first uses it; a failure is tried again when another one does. */
function createLoader<T>(load: () => Promise<T>) {
  const state = signal<LoadState<T>>("loading");

  /** The browser itself fetches a file once, however many want it. */
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

/** Something other than a component, fetched when it is first wanted; `undefined` until it has come. */
export function lazyValue<T>(load: () => Promise<T>): (isWanted?: boolean) => T | undefined {
  const useLoaded = createLoader(load);
  return function useValue(isWanted) {
    const current = useLoaded(isWanted);
    return typeof current === "object" ? current.value : undefined;
  };
}

/** A component whose code is fetched when it is first shown. */
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

/** A whole page of the application, under its name until it has come. */
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
