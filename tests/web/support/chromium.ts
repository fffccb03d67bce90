import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

/** A Chromium on this machine, if there is one. */
export const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => Bun.which(name))
  .concat(PLACES.filter((place) => existsSync(place)))
  .find((path) => path !== null);

if (CHROMIUM === undefined) {
  console.error(
    "No Chromium on this machine: the tests in a browser are skipped. `apt-get install chromium` brings one.",
  );
}

/** A separate browser with a temporary profile. */
export function startBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error("there is no Chromium on this machine");
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true });
}
