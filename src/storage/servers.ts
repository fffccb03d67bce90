/**
 * The servers that use one database. A server keeps the requests it holds while its lease lasts; afterwards other
 * servers may take them over. Leases use the engine's clock, so servers with different clocks agree on them.
 */
export type ServerStorage = {
  /** The id of this server; each start creates a new one. */
  id: string;

  /**
   * Extends this server's lease. `lapsed`: the lease had expired, so others may have taken over this server's requests.
   */
  renew(forMs: number): Promise<"renewed" | "lapsed">;
  /** Ends this server's lease at once, so that other servers need not wait for it. */
  leave(): Promise<void>;
};
