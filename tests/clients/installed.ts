import { type InstalledPackages, installPackages } from "../support/installed-packages.ts";

/**
 * The clients of package.json beside this file, installed by the one test that needs them. They are no devDependencies:
 * they would add 263 MB to the 717 that everybody installs, for one file of tests, and most of them want Node 22, where
 * Plexus needs 20; under Bun they run on any machine. `rolldown`, which no client uses here, is pinned there to a version
 * whose packages exist for every platform, since `npm ci` refuses a lockfile that lacks one.
 */
export type Clients = InstalledPackages;

export function installClients() {
  return installPackages({ directory: import.meta.dir, name: "plexus-clients" });
}
