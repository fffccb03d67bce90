import { CHROMIUM } from "../../tests/web/support/chromium.ts";

const INSTALL_WITHIN_MS = 10 * 60_000;

/** Installs the browser that some tests need, if apt-get can do it. If that fails, the tests run anyway. */
if (CHROMIUM === undefined && process.getuid?.() === 0 && Bun.which("apt-get")) {
  console.log("Getting Chromium for the tests in a browser…");
  const run = (...args: string[]) =>
    Bun.spawn(["apt-get", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "ignore"],
      timeout: INSTALL_WITHIN_MS,
    }).exited;
  await run("update", "-q");
  const exitCode = await run("install", "-qy", "--no-install-recommends", "chromium");
  if (exitCode !== 0) console.log("apt-get could not bring it: the tests in a browser will be skipped.");
}
