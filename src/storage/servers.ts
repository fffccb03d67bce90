/**
 * The servers that use one database. A request that a server holds is its own while its lease lasts; then the others may
 * take it over. Leases are counted by the clock of the engine, so that servers whose clocks differ agree on them.
 */
export type ServerStorage = {
  /** The id of this server, a new one for each start. */
  id: string;

  /** This server lives for so long at least. `lapsed`: its lease had run out, so others may have taken over what it held. */
  renew(forMs: number): Promise<"renewed" | "lapsed">;
  /** This server is gone: nobody has to wait for the end of its lease. */
  leave(): Promise<void>;
};
