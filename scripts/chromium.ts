import { CHROMIUM } from "../tests/web/chromium.ts";

const INSTALL_WITHIN_MS = 10 * 60_000;

/** Gets the browser that some tests need, where that takes no more than apt-get; whatever happens, the tests go on. */
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
