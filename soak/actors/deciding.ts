import type { Random } from "../../tests/support/random.ts";
import { expectKilled, type Setup } from "../crash/setup.ts";
import type { Life } from "../crash/victim.ts";
import { newDecision } from "../ledger/decisions.ts";
import type { Voice, Waiting } from "./parents.ts";

const RACES = 0.35;

/** Decides pending requests until it is over; often several deciders race with different decisions. */
export async function keepDeciding(setup: Setup, voice: Voice, rivals: Voice[], random: Random, over: AbortSignal) {
  const { victim, ledger } = setup;
  const isOver = new Promise<void>((resolve) => over.addEventListener("abort", () => resolve()));
  while (!over.aborted) {
    const life = await victim.up();
    // Subscribe before looking, so that no request in between is missed.
    const asked = ledger.next("told");
    const waiting = await lookedUp(setup, life, voice);
    const [chosen] = random.sample(waiting, 1);
    if (chosen) await decide(setup, life, chosen, voicesFor(chosen), random);
    else if (!life.isOver) await Promise.race([asked, isOver]);
  }

  function voicesFor({ session_id }: Waiting): Voice[] {
    if (!random.chance(RACES)) return [voice];
    ledger.figures.races++;
    const able = rivals.filter(
      ({ parent }) => parent.owner === "operator" || parent.owner === ledger.ownerOf(session_id),
    );
    return [voice, ...random.sample(able, random.between(1, 2))];
  }
}

async function lookedUp(setup: Setup, life: Life, voice: Voice): Promise<Waiting[]> {
  try {
    return (await voice.waiting(life)).filter(({ input }) => input["left"] !== true);
  } catch (cause) {
    expectKilled(setup, life, "looking for asks", cause);
    return [];
  }
}

async function decide(setup: Setup, life: Life, { id }: Waiting, voices: Voice[], random: Random): Promise<void> {
  await Promise.all(voices.map((voice) => respond(setup, life, id, voice, random)));
}

async function respond(setup: Setup, life: Life, id: string, voice: Voice, random: Random): Promise<void> {
  const { ledger, verdicts } = setup;
  const decision = newDecision(random, `${id.slice(-6)}-${random.between(0, 1e9)}`);
  const resolution = ledger.decisionSent(id, decision, voice.parent.name);
  const replied = voice.respond(life, id, decision);
  ledger.happened("deciding");
  const reply = await replied.catch((cause: unknown) => {
    expectKilled(setup, life, "a decision", cause);
    ledger.figures["decisions cut off"]++;
  });
  if (!reply) return;
  const told = `${voice.parent.name} was told ${JSON.stringify(reply)} on ${id}`;
  if (reply.type === "ok") {
    const isOnly = ledger.acknowledge(id, resolution);
    verdicts.check("once", isOnly, () => `${told}, after ${JSON.stringify(ledger.acknowledgedFor(id))}`);
    verdicts.check("once", reply.status === resolution.status, () => `${told}, but had sent ${resolution.status}`);
  } else {
    const { status, resolved_by, resolved_at } = reply;
    const first = ledger.tooLate(id, { status, resolved_by, resolved_at });
    const isSame = Bun.deepEquals(first, { status, resolved_by, resolved_at });
    verdicts.check("once", isSame, () => `${told}; somebody else was told ${JSON.stringify(first)}`);
  }
  const winner = ledger.acknowledgedFor(id);
  const first = ledger.firstOf(id);
  if (!winner || !first) return;
  const agree = winner.status === first.status && winner.resolved_by === first.resolved_by;
  verdicts.check("once", agree, () => `${told}; ${JSON.stringify(winner)} was ok, ${JSON.stringify(first)} was told`);
}
