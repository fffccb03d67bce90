import { accessSync, constants, readFileSync } from "node:fs";

/** Shells of accounts without a login; the "home" of such an account may be `/bin` or `/var/www`. */
const NO_LOGIN = /\/(nologin|false|sync|halt|shutdown)$/;

/** Directories with keys and tokens of people: this user's home, and other homes that this user can read. */
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
    // Not every system has the file; the user's own home is known without it.
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
