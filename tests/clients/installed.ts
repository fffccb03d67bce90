import { type InstalledPackages, installPackages } from "../support/installed-packages.ts";

/**
 * The clients of package.json beside this file, installed by the only test that needs them. They are no
 * devDependencies, because they would add 263 MB to everyone's 717 MB for one test file. Most of them require Node 22
 * while Plexus requires 20; under Bun they run anywhere. `rolldown`, which no client uses here, is pinned to a version
 * with packages for every platform, because `npm ci` refuses a lockfile that lacks one.
 */
export type Clients = InstalledPackages;

export function installClients() {
  return installPackages({ directory: import.meta.dir, name: "plexus-clients" });
}
