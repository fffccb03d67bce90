import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plexusOnScreen } from "../../tests/cli/support/command.ts";
import { OPERATOR_TOKEN, type Plexus } from "../../tests/support/server/plexus.ts";
import { startFamily } from "../../tests/support/sessions/family.ts";
import { startBrowser } from "../../tests/web/support/chromium.ts";
import { type Person, signedIn } from "../../tests/web/support/person.ts";
import { terminalPicture } from "./terminal-picture.ts";

const OPERATOR = { kind: "operator" } as const;
const SHOTS = join(import.meta.dir, "../../docs/screenshots");
const TERMINAL = { columns: 92, rows: 22 };
const SCREEN = { viewport: { width: 1200, height: 700 }, deviceScaleFactor: 1.5 };

const CART = `export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}
`;
const EDIT = {
  old_string: "  let sum = 0;\n  for (const item of items) {\n    sum += item.price;\n  }\n  return sum;",
  new_string: "  return items.reduce((sum, item) => sum + item.price * item.quantity, 0);",
};
const RELEASE = "npm test 2>&1 | tee test.log && git tag v1.4.0 && git push --force origin main";

/** Makes the pictures for the README from the real page and terminal, with real children and a scripted model. */
const shop = join(tmpdir(), "shop");
await mkdir(shop);
try {
  await mkdir(SHOTS, { recursive: true });
  await writeFile(join(shop, "cart.ts"), CART);
  await using family = await startFamily();
  await using browser = await startBrowser();
  const file_path = join(shop, "cart.ts");
  const [tests, checkout] = [
    await family.create("tests", { working_dir: shop }),
    await family.create("checkout", { working_dir: shop }),
  ];
  await family.create("release", { working_dir: shop });
  const docs = await family.create("docs", { working_dir: shop });
  await family.start("checkout", [
    { say: "I'll look at how the cart adds up its items.", use: [{ name: "Read", input: { file_path } }] },
    { say: "It leaves out the quantity. One line will do.", use: [{ name: "Edit", input: { file_path, ...EDIT } }] },
    { say: "Done: the total now counts every piece." },
  ]);
  await family.ask(checkout);
  await family.start("tests", [
    {
      use: [
        { name: "Bash", input: { command: "npm install --save-dev vitest", description: "Install the test runner" } },
      ],
    },
  ]);
  await family.start("docs", [
    {
      use: [
        {
          name: "WebFetch",
          input: { url: "https://payments.example.com/api/refunds", prompt: "How are refunds made?" },
        },
      ],
    },
  ]);
  await family.ask(tests);
  await family.ask(docs);
  await family.start("release", [
    { use: [{ name: "Bash", input: { command: RELEASE, description: "Run the tests and release" } }] },
  ]);

  await shootWatch(family.plexus.url);
  await using light = await signedIn(browser, family.plexus, { ...SCREEN, colorScheme: "light" });
  await using dark = await signedIn(browser, family.plexus, { ...SCREEN, colorScheme: "dark" });
  await open(light, "release");
  await light.card.getByText("overwrites or removes").waitFor();
  await shoot(light, "inbox");
  await open(dark, "checkout");
  await dark.card.locator(".lines .added").first().waitFor();
  await shoot(dark, "diff");
  await dark.press("a");
  await family.ended("checkout");
  await light.page.goto(`${family.plexus.url}/#/sessions/${checkout}`);
  await light.page.getByText("the total now counts").waitFor();
  await light.page.getByText("Edit", { exact: true }).click();
  await shoot(light, "transcript");
  await makeRules(family.plexus, tests);
  await light.page.getByRole("link", { name: "Rules" }).click();
  await light.page.getByText("ready to go live").waitFor();
  await light.page.getByText("These rules would have saved").waitFor();
  await shoot(light, "rules");
  for (const name of ["tests", "docs", "release"]) await family.call("claudecode_cancel", { name });
} finally {
  await rm(shop, { recursive: true, force: true });
}

/** Creates rules of every kind in a session with many past requests. */
async function makeRules({ app }: Plexus, sessionId: string): Promise<void> {
  const session = await app.sessions.require(OPERATOR, sessionId);
  const ask = async (tool_name: string, input: object) => {
    using asked = await app.approvals.request(session, { tool_name, input: { ...input } });
    const { status } = await app.approvals.get(OPERATOR, asked.approvalId);
    if (status === "pending") await app.approvals.decide(OPERATOR, asked.approvalId, { approve: true });
  };
  const reason = "Nobody pushes from here: open a pull request.";
  await app.rules.add(OPERATOR, { decision: "deny", match: "Bash(git push *)", reason });
  await app.rules.add(OPERATOR, { decision: "ask", match: "Edit(./migrations/**)" });
  await app.rules.add(OPERATOR, { decision: "allow", match: "Bash(npm test)", session_id: sessionId });
  await app.rules.add(OPERATOR, { decision: "allow", match: "WebFetch(domain:nodejs.org)", mode: "shadow" });
  for (const page of ["fs", "path", "test", "url", "util", "http"]) {
    await ask("Bash", { command: "npm test" });
    await ask("WebFetch", { url: `https://nodejs.org/api/${page}.html`, prompt: "How is it used?" });
    await ask("WebFetch", { url: `https://vitest.dev/api/${page}`, prompt: "How is it used?" });
  }
  await ask("Bash", { command: "git push origin main" });
}

/** Pictures the same requests in a terminal. */
async function shootWatch(url: string): Promise<void> {
  const env = { PLEXUS_TOKEN: OPERATOR_TOKEN };
  await using screen = plexusOnScreen(["watch", "--url", url], { ...TERMINAL, env });
  await screen.shows("4 pending");
  await screen.shows("A remembers");
  screen.type("q");
  await screen.exited;
  const shown = screen.text().split("\u001b[?2004l")[0] ?? "";
  // Replace the port by the default one, with the same number of characters.
  const usual = "http://127.0.0.1:4445";
  const picture = terminalPicture(
    shown.replaceAll(url, usual.padEnd(url.length)),
    "plexus watch: requests that need approval, and one of them in full",
    TERMINAL,
  );
  await writeFile(join(SHOTS, "watch.svg"), picture);
}

async function open(person: Person, session: string): Promise<void> {
  await person.rows.filter({ hasText: session }).first().getByRole("button").click();
}

async function shoot({ page }: Person, name: string): Promise<void> {
  await page.screenshot({ path: join(SHOTS, `${name}.png`), animations: "disabled" });
}
