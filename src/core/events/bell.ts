export type Bell = {
  ring(): void;
  /** Resolves at the next ring since it last did, also when that came while its owner was reading and not waiting. */
  woken(): Promise<void>;
};

/** For one reader, which reads, and then waits until there may be more: no ring between the two is lost. */
export function createBell(): Bell {
  let next = Promise.withResolvers<void>();
  return {
    ring: () => next.resolve(),
    async woken() {
      await next.promise;
      next = Promise.withResolvers();
    },
  };
}
