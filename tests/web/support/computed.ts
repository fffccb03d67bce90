import type { Page } from "playwright-core";

/**
 * The computing time of the page's main thread during `body`, in milliseconds. Other work of the machine does not
 * count.
 */
export async function computed(page: Page, body: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const total = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
  };
  const before = await total();
  await body();
  const spent = (await total()) - before;
  await session.detach();
  return spent;
}
