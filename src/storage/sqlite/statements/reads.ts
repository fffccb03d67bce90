import { storageError } from "../failure.ts";

type Query = (...parameters: never[]) => unknown;
/** The same queries, each returning a promise of its result. */
type Reads<Q, K extends keyof Q> = {
  [N in K]: Q[N] extends (...parameters: infer P) => infer T ? (...parameters: P) => Promise<T> : never;
};

/**
 * Turns the named queries into reads of the storage interface: they return promises and fail with errors that a person
 * understands.
 */
export function reads<Q extends { [N in K]: Query }, K extends keyof Q & string>(
  queries: Q,
  ...names: K[]
): Reads<Q, K>;
export function reads(queries: Record<string, Query>, ...names: string[]): Record<string, Query> {
  const promised = names.map((name) => [name, async (...parameters: never[]) => answer(queries[name], parameters)]);
  return Object.fromEntries(promised);
}

function answer(query: Query | undefined, parameters: never[]): unknown {
  return translated(() => query?.(...parameters));
}

export function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw storageError(cause);
  }
}
