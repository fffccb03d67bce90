import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { RespondResult } from "../../../src/contract/approvals/decision.ts";
import { getApproval } from "../../../src/contract/routes/approvals.ts";
import { type FiledRequest, openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

let place: Place;
let session: string;
beforeAll(async () => {
  place = await openPlace();
  session = await place.session();
});
afterAll(() => place[Symbol.asyncDispose]());

const INPUT = { command: "echo asked" };
const ask = (): Promise<FiledRequest> => place.ask(session, "Bash", INPUT);

describe("plexus allow", () => {
  test("allows, and the child runs what it asked for", async () => {
    const { id, answer } = await ask();
    expect(await place.plexus(["allow", id])).toEqual({ exitCode: 0, stdout: `Allowed ${id}.\n`, stderr: "" });
    expect(await answer).toEqual({ behavior: "allow", updatedInput: INPUT });
  });

  test("runs another input, from the argument or from standard input", async () => {
    const updated = { command: "echo 'edited' \u202e" };
    const [one, two] = [await ask(), await ask()];
    await place.plexus(["allow", one.id, "--input", JSON.stringify(updated)]);
    await place.plexus(["allow", two.id, "--input", "-"], { stdin: JSON.stringify(updated) });
    expect(await one.answer).toEqual({ behavior: "allow", updatedInput: updated });
    expect(await two.answer).toEqual({ behavior: "allow", updatedInput: updated });
  });

  test("changes a part of the input with --merge, and refuses one that lacks a key without it", async () => {
    const { id, answer } = await place.ask(session, "Bash", { ...INPUT, description: "says it" });
    const part = ["--input", '{"command":"echo other"}'];
    const refused = await place.plexus(["allow", id, ...part]);
    expect(refused).toEqual({ exitCode: 1, stdout: "", stderr: expect.stringContaining('lacks "description"') });
    expect((await place.plexus(["allow", id, ...part, "--merge"])).exitCode).toBe(0);
    const updatedInput = { command: "echo other", description: "says it" };
    expect(await answer).toEqual({ behavior: "allow", updatedInput });
    expect(await place.plexus(["allow", id, "--merge"])).toMatchObject({ exitCode: 2 });
  });

  test("refuses a merge with a key that the tool does not take, and prints which it has added", async () => {
    const bash = await place.ask(session, "Bash", { command: "rm -rf data" });
    const merge = (id: string, input: object) =>
      place.plexus(["allow", id, "--merge", "--input", JSON.stringify(input)]);
    const stderr = expect.stringContaining('updated_input has "comand", but Bash takes command, ');
    expect(await merge(bash.id, { comand: "echo harmless" })).toEqual({ exitCode: 1, stdout: "", stderr });
    const other = await place.ask(session, "mcp__db__query", { sql: "select 1" });
    const stdout = `Allowed ${other.id}.\nAdded to its input: "a\\u{202e}".\n`;
    expect(await merge(other.id, { "a\u202e": 1 })).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("answers questions by their labels, and says which there are", async () => {
    const questions = [
      { question: "Which?", header: "", multiSelect: false, options: [{ label: "A" }, { label: "B" }] },
    ];
    const { id, answer } = await place.ask(session, "AskUserQuestion", { questions });
    const refused = await place.plexus(["allow", id, "--answers", '{"Which?":"C"}']);
    expect(refused).toEqual({ exitCode: 1, stdout: "", stderr: expect.stringContaining('the options are "A", "B"') });
    expect(await place.plexus(["allow", id, "--answers", '{"Which?":3}'])).toMatchObject({ exitCode: 2 });
    expect((await place.plexus(["allow", id, "--answers", '{"Which?":"B"}'])).exitCode).toBe(0);
    expect(await answer).toEqual({ behavior: "allow", updatedInput: { questions, answers: { "Which?": "B" } } });
  });

  test("says of a question without answers that it has none, and what is dangerous about another input", async () => {
    const question = { question: "Which?", header: "", multiSelect: false, options: [{ label: "A" }, { label: "B" }] };
    const { id } = await place.ask(session, "AskUserQuestion", { questions: [question] });
    const { stdout } = await place.plexus(["allow", id]);
    expect(stdout).toBe(`Allowed ${id}.\nIt has no answer: the agent is told that nobody answered.\n`);
    const other = await ask();
    const edited = await place.plexus(["allow", other.id, "--merge", "--input", '{"command":"sudo ls"}']);
    expect(edited.stdout).toBe(`Allowed ${other.id}.\nWith this input it runs as root (sudo).\n`);
  });

  test("keeps a note on record, and prints JSON when asked to", async () => {
    const { id } = await ask();
    const { exitCode, stdout } = await place.plexus(["allow", id, "-m", "looks fine", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ type: "ok", approval_id: id, status: "allowed" });
    expect(exitCode).toBe(0);
    const record = await place.api.call(getApproval, { params: { id } });
    expect(record).toMatchObject({ approval: { response_message: "looks fine", resolved_by: "operator" } });
  });

  test("leaves the call waiting when the server refuses the input", async () => {
    const { id } = await ask();
    const { exitCode, stdout, stderr } = await place.plexus(["allow", id, "--input", "{}"]);
    expect(stderr).toMatch(/^plexus: updated_input must not be empty[^\n]*\n$/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect((await place.plexus(["pending"])).stdout).toContain(id);
  });
});

describe("plexus deny", () => {
  test("denies, and the child reads why", async () => {
    const { id, answer } = await ask();
    const why = "not here: use /tmp";
    expect(await place.plexus(["deny", id, "-m", why])).toEqual({ exitCode: 0, stdout: `Denied ${id}.\n`, stderr: "" });
    expect(await answer).toEqual({ behavior: "deny", message: why });
  });

  test("ends the child's turn too when told", async () => {
    const { id, answer } = await ask();
    const { stdout } = await place.plexus(["deny", id, "-m", "stop", "--interrupt", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ type: "ok", approval_id: id, status: "denied" });
    expect(await answer).toEqual({ behavior: "deny", message: "stop", interrupt: true });
  });
});

describe("the request that is meant", () => {
  test("can be named by the last four characters of its id, also once it is decided", async () => {
    const { id, answer } = await ask();
    const short = id.slice(-4);
    expect((await place.plexus(["allow", short])).stdout).toBe(`Allowed ${short}.\n`);
    expect(await answer).toMatchObject({ behavior: "allow" });
    const { exitCode, stderr } = await place.plexus(["deny", short, "-m", "no"]);
    expect(stderr).toContain(`${short} was already allowed by operator`);
    expect(exitCode).toBe(4);
  });

  test("is refused where several ids end alike, or none does", async () => {
    const [one, two] = [await ask(), await ask()];
    using sqlite = new Database(join(place.dataDir, "plexus.db"));
    const alike = (id: string) => `${id.slice(0, -4)}abcd`;
    for (const { id } of [one, two]) sqlite.run("UPDATE loopback_approvals SET id = ? WHERE id = ?", [alike(id), id]);
    const { exitCode, stderr } = await place.plexus(["allow", "abcd"]);
    expect(stderr).toContain("2 requests end with abcd: give more of the id.");
    for (const { id } of [one, two]) expect(stderr).toContain(`${alike(id).slice(-5)}: Bash echo asked`);
    expect(exitCode).toBe(1);
    for (const { id } of [one, two]) await place.plexus(["deny", alike(id), "-m", "over"]);
    const none = await place.plexus(["allow", "0000"]);
    expect(none).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("There is no request 0000: `plexus pending`"),
    });
  });

  test.each([
    [["allow"], "Which request? Give its ID, which `plexus pending` shows, or --last"],
    [["allow", "abc"], '"abc" is not an id: `plexus pending` shows them'],
    [["allow", "ab cd"], '"ab cd" is not an id'],
    [["deny", "abcd", "--last", "-m", "no"], "Give an ID or --last, not both."],
  ])("must be named: %j", async (args, says) => {
    const { exitCode, stderr } = await place.plexus(args);
    expect(stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(says) });
  });
});

describe("plexus allow --last", () => {
  let own: Place;
  beforeAll(async () => {
    own = await openPlace();
  });
  afterAll(() => own[Symbol.asyncDispose]());
  /** Makes the request old enough for a person to have seen it. */
  const seen = ({ id }: FiledRequest) => {
    using sqlite = new Database(join(own.dataDir, "plexus.db"));
    sqlite.run("UPDATE loopback_approvals SET created_at = created_at - 60000 WHERE id = ?", [id]);
  };

  test("allows the only request, or the newest of several, unless that is too recent or dangerous", async () => {
    const worker = await own.session("worker");
    expect(await own.plexus(["allow", "--last"])).toMatchObject({
      exitCode: 1,
      stderr: "plexus: No pending requests.\n",
    });
    const only = await own.ask(worker, "Bash", { command: "touch only" });
    expect((await own.plexus(["allow", "--last"])).stdout).toBe(`Allowed ${only.id.slice(-4)}: Bash touch only.\n`);
    const [older, newer] = [
      await own.ask(worker, "Bash", INPUT),
      await own.ask(worker, "Bash", { command: "touch new" }),
    ];
    const refused = await own.plexus(["allow", "--last"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(
      `A request has just come in: name the one that you mean. ${newer.id.slice(-4)}: Bash touch new`,
    );
    for (const request of [older, newer]) seen(request);
    expect((await own.plexus(["allow", "--last"])).exitCode).toBe(0);
    expect(await newer.answer).toMatchObject({ behavior: "allow" });
    expect(await own.pending(worker)).toMatchObject([{ id: older.id }]);
    const dangerous = await own.ask(worker, "Bash", { command: "rm -rf x" });
    seen(dangerous);
    const warned = await own.plexus(["allow", "--last"]);
    expect(warned.stderr).toContain(
      `it removes files (rm). Name it to allow it: \`plexus allow ${dangerous.id.slice(-4)}\`.`,
    );
    expect(await own.pending(worker)).toHaveLength(2);
    expect((await own.plexus(["deny", "--last", "-m", "no"])).exitCode).toBe(0);
    expect(await dangerous.answer).toMatchObject({ behavior: "deny" });
  });
});

describe("a decision from the command line", () => {
  test("that comes second names the first decision and its decider, with exit code 4", async () => {
    const { id } = await ask();
    await place.plexus(["deny", id, "-m", "no"]);
    const { exitCode, stdout, stderr } = await place.plexus(["allow", id]);
    expect(stderr).toMatch(new RegExp(`^plexus: ${id} was already denied by operator at 2\\S+Z: [^\\n]*\\n$`));
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    const json = await place.plexus(["allow", id, "--json"]);
    expect(RespondResult.parse(JSON.parse(json.stdout))).toMatchObject({
      type: "already_resolved",
      status: "denied",
      resolved_by: "operator",
    });
    expect(json.exitCode).toBe(4);
  });

  test("on an approval that does not exist says so, with exit code 1", async () => {
    const id = crypto.randomUUID();
    const { exitCode, stdout, stderr } = await place.plexus(["allow", id]);
    expect(stderr).toMatch(new RegExp(`^plexus: There is no approval ${id}[^\\n]*\\n$`));
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });

  test("with a wrong token is refused, with exit code 1, and shows no token", async () => {
    const { id } = await ask();
    const PLEXUS_TOKEN = "plx_wrong_0123456789";
    const { exitCode, stderr } = await place.plexus(["allow", id], { env: { PLEXUS_TOKEN } });
    expect(stderr).toMatch(
      /^plexus: This token is not known here[^\n]* is that of PLEXUS_TOKEN: correct or unset it\.\n$/,
    );
    expect(stderr).not.toContain(PLEXUS_TOKEN);
    expect(exitCode).toBe(1);
    expect((await place.plexus(["pending"])).stdout).toContain(id);
  });

  test("with a named token decides only what that token created", async () => {
    const { id } = await ask();
    const { stdout } = await place.plexus(["token", "create", "somebody-else"]);
    const env = { PLEXUS_TOKEN: stdout.trim() };
    expect(await place.plexus(["allow", id], { env })).toMatchObject({ exitCode: 1 });
    expect(await place.plexus(["pending"], { env })).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test.each([1, 2, 3])("wins or loses whole against another that races it (%d)", async () => {
    const { id, answer } = await ask();
    const callers = await Promise.all([place.plexus(["allow", id]), place.plexus(["deny", id, "-m", "no"])]);
    expect(callers.map(({ exitCode }) => exitCode).sort()).toEqual([0, 4]);
    const isAllowed = callers[0].exitCode === 0;
    const loser = callers[isAllowed ? 1 : 0];
    expect(loser.stderr).toContain(`was already ${isAllowed ? "allowed" : "denied"} by operator`);
    expect((await answer).behavior).toBe(isAllowed ? "allow" : "deny");
  });
});
