import { describe, expect, test } from "bun:test";
import { createApi } from "../../../src/client/api.ts";
import { createConfirmation } from "../../../src/client/deciding/confirmation.ts";
import { createDecider } from "../../../src/client/deciding/decider.ts";
import { createDecisions } from "../../../src/client/deciding/decisions.ts";
import { createReviews } from "../../../src/client/deciding/reviews.ts";
import { createInbox } from "../../../src/client/inbox.ts";
import { Decision } from "../../../src/contract/approvals/decision.ts";
import { approvals, idOf, resolved } from "../requests.ts";

const words = { unreachable: () => "away", noPlexus: () => "no Plexus", otherVersion: () => "another version" };
const CONTEXT = { working_dir: "/work", file: null, real_path: null, plan: null, skill: null };

/** A decider over requests with these commands and a clock that the test sets; `sent` records the decisions sent. */
function deciderOf(commands: string[], answer: () => Promise<void> = async () => undefined) {
  const clock = { ms: 1_000 };
  const sent: { id: string; decision: Decision }[] = [];
  const listed = approvals(commands.length).map((one, at) => ({ ...one, input: { command: commands[at] } }));
  const api = createApi({
    server: () => ({ url: "http://plexus", token: undefined }),
    fetch: async (url, { body } = {}) => {
      const [id = "", what] = new URL(url).pathname.split("/").slice(4);
      if (id === "respond") {
        const { decisions } = JSON.parse(String(body));
        for (const { approval_id, ...decision } of decisions) sent.push({ id: approval_id, decision });
        await answer();
        const ok = decisions.map((one: object) => ({ ...one, type: "ok", status: "allowed", approve: undefined }));
        return Response.json({ type: "ok", results: ok });
      }
      if (what === "context") return Response.json({ type: "ok", ...CONTEXT });
      if (what !== "respond") return Response.json({ type: "ok", approval: listed.find((one) => one.id === id) });
      sent.push({ id, decision: Decision.parse(JSON.parse(String(body))) });
      await answer();
      return Response.json({ type: "ok", approval_id: id, status: "allowed" });
    },
    words,
  });
  const inbox = createInbox({ now: () => clock.ms, settledShownMs: 1_000 });
  inbox.load(listed);
  const confirmation = createConfirmation({ now: () => clock.ms });
  const decisions = createDecisions({ api, onDecided: inbox.remove, onBeaten: inbox.settle });
  const { selected, checked } = inbox;
  const decider = createDecider({ confirmation, decisions, reviews: createReviews({ api }), selected, checked });
  const idsSent = () => sent.map(({ id }) => id);
  return { clock, sent, idsSent, inbox, confirmation, decider };
}

describe("the decider", () => {
  test("allows a harmless request with one press, and the next one not before it could be read", async () => {
    const { clock, idsSent, decider } = deciderOf(["make", "make"]);
    expect(await decider.allow()).toMatchObject({ kind: "sent", decisions: [{ result: { kind: "decided" } }] });
    expect(await decider.allow()).toEqual({ kind: "too_soon" });
    clock.ms += 350;
    expect(await decider.allow()).toMatchObject({ kind: "sent" });
    expect(idsSent()).toEqual([idOf(0), idOf(1)]);
  });

  test("requires a second press for a dangerous request, and names the dangers", async () => {
    const { clock, idsSent, decider } = deciderOf(["rm -rf build"]);
    expect(await decider.allow()).toEqual({ kind: "armed", reasons: ["removes files (rm)"] });
    expect(idsSent()).toEqual([]);
    clock.ms += 350;
    expect(await decider.allow()).toMatchObject({ kind: "sent" });
    expect(idsSent()).toEqual([idOf(0)]);
  });

  test("checks the dangers of an edited input, and accepts a second press for that input only", async () => {
    const { clock, sent, decider } = deciderOf(["make"]);
    const [build, dist] = [{ command: "rm -rf build" }, { command: "rm -rf dist" }];
    for (const input of [build, dist]) {
      expect(await decider.allowEdited(input)).toEqual({ kind: "armed", reasons: ["removes files (rm)"] });
      clock.ms += 350;
    }
    expect(sent).toEqual([]);
    expect(await decider.allowEdited(dist)).toMatchObject({ kind: "sent" });
    expect(sent).toEqual([{ id: idOf(0), decision: { approve: true, updated_input: dist } }]);
  });

  test("allows an edited input with one press if only the original was dangerous", async () => {
    const { sent, decider } = deciderOf(["rm -rf build"]);
    expect(await decider.allowEdited({ command: "make clean" })).toMatchObject({ kind: "sent" });
    expect(sent).toMatchObject([{ decision: { updated_input: { command: "make clean" } } }]);
  });

  test("creates a rule from an allow, and accepts a second press for that rule only", async () => {
    const { clock, sent, decider } = deciderOf(["rm -rf build"]);
    const [once, always] = [
      { scope: "session", match: "Bash(rm -rf build)" },
      { scope: "always", match: "Bash(rm -rf build)" },
    ] as const;
    for (const remember of [once, always]) {
      expect(await decider.allowAndRemember(remember)).toEqual({ kind: "armed", reasons: ["removes files (rm)"] });
      clock.ms += 350;
    }
    expect(sent).toEqual([]);
    expect(await decider.allowAndRemember(always)).toMatchObject({ kind: "sent" });
    expect(sent).toEqual([{ id: idOf(0), decision: { approve: true, remember: always } }]);
  });

  test("counts a key that is held down as one press, however long", async () => {
    const { clock, idsSent, decider } = deciderOf(["rm -rf build"]);
    await decider.allow();
    for (let held = 0; held < 100; held++) {
      clock.ms += 30;
      expect(await decider.allow()).toEqual({ kind: "too_soon" });
    }
    expect(idsSent()).toEqual([]);
  });

  test("requires a second press for several checked requests, and for one that is not in view", async () => {
    const { clock, idsSent, inbox, decider } = deciderOf(["make", "make", "make"]);
    inbox.setChecked([idOf(1)], true);
    expect(await decider.allow()).toEqual({ kind: "armed", reasons: ["allows 1 selected, in view or not"] });
    inbox.setChecked([idOf(2)], true);
    clock.ms += 350;
    expect(await decider.allow()).toEqual({ kind: "armed", reasons: ["allows 2 selected, in view or not"] });
    clock.ms += 350;
    expect(await decider.allow()).toMatchObject({ kind: "sent" });
    expect(idsSent()).toEqual([idOf(1), idOf(2)]);
  });

  test("sends one decision for a request, and reports while it is being sent", async () => {
    const answer = Promise.withResolvers<void>();
    const { clock, idsSent, decider } = deciderOf(["make"], () => answer.promise);
    const seen: boolean[] = [];
    decider.onChange(() => seen.push(decider.isSending()));
    const first = decider.deny(decider.targets(), { message: "no" });
    clock.ms += 1_000;
    const others = [await decider.allow(), await decider.deny(decider.targets(), {})];
    expect(others).toEqual([{ kind: "moved_on" }, { kind: "moved_on" }]);
    answer.resolve();
    expect(await first).toMatchObject({ kind: "sent", decisions: [{ decision: { approve: false, message: "no" } }] });
    expect({ seen, ids: idsSent() }).toEqual({ seen: [true, false], ids: [idOf(0)] });
  });

  test("answers a question only while it is in view and pending", async () => {
    const { clock, sent, inbox, decider } = deciderOf(["one", "two"]);
    const [first, second] = inbox.pending().map(({ approval }) => approval);
    if (!first || !second) throw new Error("two are listed");
    const answers = { answers: { "Which?": "this" } };
    expect(await decider.answer(second, answers)).toEqual({ kind: "moved_on" });
    expect(await decider.answer(first, answers)).toMatchObject({ kind: "sent" });
    expect(await decider.answer(second, answers)).toEqual({ kind: "too_soon" });
    clock.ms += 350;
    inbox.take([resolved(1)]);
    expect(await decider.answer(second, answers)).toEqual({ kind: "moved_on" });
    expect(sent).toEqual([{ id: idOf(0), decision: { approve: true, updated_input: answers } }]);
  });

  test("sends any number of held denials at once, while the request on the screen can be allowed", async () => {
    const hanging = Promise.withResolvers<void>();
    const { idsSent, inbox, decider } = deciderOf(Array(203).fill("make"), () => hanging.promise);
    const held = inbox.pending().slice(0, 202);
    inbox.setHeld(
      held.map(({ approval }) => approval.id),
      true,
    );
    inbox.moveOn();
    const denied = decider.denyHeld(
      held.map(({ approval }) => approval),
      {},
    );
    expect(idsSent().length).toBe(202);
    expect(decider.isSending()).toBe(false);
    const allowed = decider.allow();
    hanging.resolve();
    expect((await denied).map(({ result }) => result.kind)).toEqual(Array(202).fill("decided"));
    expect(await allowed).toMatchObject({ kind: "sent" });
    expect(idsSent().at(-1)).toBe(idOf(202));
  });
});
