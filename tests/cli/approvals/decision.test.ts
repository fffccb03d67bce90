import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { RespondResult } from "../../../src/contract/approvals/approval.ts";
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
    expect(stderr).toMatch(/^plexus: updated_input: must not be empty[^\n]*\n$/);
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

describe("a decision from the command line", () => {
  test("that comes second says who was first and what they decided, with exit code 4", async () => {
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
    expect(stderr).toMatch(/^plexus: This token is not known here[^\n]*\n$/);
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
