import { expect, setDefaultTimeout, test } from "bun:test";
import { cancelTurn } from "../../../src/contract/routes/sessions.ts";
import { until } from "../../support/until.ts";
import { openWorkshop, scripted } from "../support/workshop.ts";

setDefaultTimeout(120_000);

test("plexus run says that its turn is queued, waits, and shows it; sessions and logs tell of it, too", async () => {
  await using shop = await openWorkshop(["--max-running", "1"]);
  const first = shop.plexus(["run", "first", scripted({ say: "one", waitFor: "go" })]);
  await until("the first to work", () => shop.model.requests.length > 0);
  const second = shop.plexus(["run", "second", scripted({ say: "two" })]);
  await until("the second to be queued", async () => (await shop.statusOf("second")) === "queued");
  expect((await shop.plexus(["sessions"])).stdout).toMatch(/^second +queued /m);
  expect(await shop.plexus(["logs", "second"])).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: 'Session "second" has a turn that is queued.\n',
  });
  shop.model.release("go");
  expect(await first).toMatchObject({ exitCode: 0, stderr: "" });
  const { exitCode, stdout, stderr } = await second;
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "Other children run: queued at place 1.\n" });
  expect(stdout).toStartWith("│ two\n");
});

test("plexus run ends when its queued turn is cancelled", async () => {
  await using shop = await openWorkshop(["--max-running", "1"]);
  const first = shop.plexus(["run", "first", scripted({ hang: true })]);
  await until("the first to work", () => shop.model.requests.length > 0);
  const second = shop.plexus(["run", "second", scripted({ say: "two" })]);
  await until("the second to be queued", async () => (await shop.statusOf("second")) === "queued");
  for (const name of ["second", "first"]) await shop.api.call(cancelTurn, { params: { key: name } });
  expect([(await second).exitCode, (await first).exitCode]).toEqual([5, 5]);
  expect(shop.model.requests).toHaveLength(1);
});
