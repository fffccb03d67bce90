export type Bell<Told = void> = {
  /** Wakes the owner. A value may get lost, if the bell has rung before; so the owner must read again. */
  ring(told?: Told): void;
  /** Resolves at the first ring since it last resolved, even if the owner was still reading then. */
  woken(): Promise<Told | undefined>;
};

/** A wake-up for one reader that alternates between reading and waiting: a ring during a read is not lost. */
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
