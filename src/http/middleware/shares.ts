import type { Principal } from "../../app.ts";

/** The holders whose shares an amount counts against, from the widest to the narrowest. */
export type Holders = readonly string[];
export type Shares = ReturnType<typeof createShares>;

const ALL = "all";

/**
 * A token has its own share. Its children have another one together, of which each child has a part. The operator is
 * not counted.
 */
export function holdersOf(principal: Principal, owner = "nobody"): Holders | undefined {
  switch (principal.kind) {
    case "operator":
      return undefined;
    case "token":
      return [`token:${principal.id}`];
    case "session":
      return [`children of ${owner}`, principal.sessionId];
  }
}

/**
 * Divides `size`: each holder may have at most `share` of what the others leave, so there is always room for another
 * holder.
 */
export function createShares({ size, share }: { size: number; share: number }) {
  const held = new Map<string, number>();
  const heldBy = (holder: string) => held.get(holder) ?? 0;
  const count = (holder: string, amount: number) => {
    const sum = heldBy(holder) + amount;
    if (sum === 0) held.delete(holder);
    else held.set(holder, sum);
  };

  /** Counts an amount taken, or, if negative, returned. */
  function change(holders: Holders, amount: number): void {
    count(ALL, amount);
    for (const holder of holders) count(holder, amount);
  }

  function fits(holders: Holders, amount: number): boolean {
    let room = size;
    let within = ALL;
    for (const holder of holders) {
      const others = heldBy(within) - heldBy(holder);
      if (heldBy(holder) + amount > share * (room - others)) return false;
      room *= share;
      within = holder;
    }
    return true;
  }

  return {
    fits,
    change,
    /** Takes this amount until disposed, whether it fits or not. */
    take(holders: Holders, amount: number): Disposable {
      let taken = amount;
      change(holders, amount);
      return {
        [Symbol.dispose]() {
          change(holders, -taken);
          taken = 0;
        },
      };
    },
  };
}
