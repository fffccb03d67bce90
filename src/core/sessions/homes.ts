import { accessSync, constants, readFileSync } from "node:fs";

/** Shells of accounts that nobody logs in to: their "home" is `/bin` or `/var/www`. */
const NO_LOGIN = /\/(nologin|false|sync|halt|shutdown)$/;

/** Where people keep their keys and tokens: this user's home, and those of others that this user can read. */
export function homesOf(home: string, accounts = "/etc/passwd"): string[] {
  const others = linesOf(accounts).flatMap((line) => {
    const [, , , , , path = "", shell = ""] = line.split(":");
    return path.startsWith("/") && path !== "/" && !NO_LOGIN.test(shell) && isReadable(path) ? [path] : [];
  });
  return [...new Set([home, ...others])];
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    // Not every system has the list; the user's own home is known without it.
    return [];
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
