export type Bell<Told = void> = {
  /** What is told with it may be missed, as where it has rung before: then its owner reads. */
  ring(told?: Told): void;
  /** Resolves at the next ring since it last did, also when that came while its owner was reading and not waiting. */
  woken(): Promise<Told | undefined>;
};

/** For one reader, which reads, and then waits until there may be more: no ring between the two is lost. */
export function createBell<Told = void>(): Bell<Told> {
  let next = Promise.withResolvers<Told | undefined>();
  return {
    ring: (told) => next.resolve(told),
    async woken() {
      const told = await next.promise;
      next = Promise.withResolvers();
      return told;
    },
  };
}
