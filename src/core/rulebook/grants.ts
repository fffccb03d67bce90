import type { Storage } from "../../storage/storage.ts";
import { ownerKey, type Principal, tokenIdIn } from "../access/principals.ts";
import type { JudgedCall } from "../rules/matching/judged-call.ts";
import { readMatch } from "../rules/matching/pattern.ts";
import { createProver, type HasDangers, type Prover } from "../rules/matching/prove.ts";
import type { Session } from "../sessions/sessions.ts";
import type { MayAllow } from "./rule-set.ts";

/** The most provers to keep: there is one for each grant and directory. */
const MAX_KEPT = 1_000;

export type Grants = ReturnType<typeof createGrants>;

type GrantsNeed = { storage: { tokens: Pick<Storage["tokens"], "get"> }; dangersIn: (session: Session) => HasDangers };

/** The limits of what named tokens may allow: everything that their children request, unless a token has a grant. */
export function createGrants({ storage, dangersIn }: GrantsNeed) {
  const provers = new Map<string, Prover>();

  /** The prover for this owner's grant in a session; `undefined` if the owner has no limit. */
  async function boundsOf(owner: string, session: Session): Promise<Prover | undefined> {
    const id = tokenIdIn(owner);
    if (id === undefined) return undefined;
    const token = await storage.tokens.get(id);
    // A revoked token allows nothing.
    const grant = token ? token.grant : [];
    if (grant === null) return undefined;
    const key = JSON.stringify([grant, session.config?.working_dir]);
    const known = provers.get(key);
    if (known) return known;
    if (provers.size >= MAX_KEPT) provers.clear();
    const prover = proverFor(grant, dangersIn(session));
    provers.set(key, prover);
    return prover;
  }

  /** Whether this principal has a grant that limits what it may allow. */
  async function isBounded(principal: Principal): Promise<boolean> {
    const id = tokenIdIn(ownerKey(principal));
    return id !== undefined && ((await storage.tokens.get(id))?.grant ?? null) !== null;
  }

  return {
    isBounded,

    /** Whether the principal may allow the call itself. */
    async covers(principal: Principal, session: Session, call: JudgedCall): Promise<boolean> {
      if (!(await isBounded(principal))) return true;
      const bounds = await boundsOf(ownerKey(principal), session);
      return bounds === undefined || bounds.prove(call, undefined) !== undefined;
    },

    /** The same check for the makers of rules. */
    async mayAllow(makers: readonly string[], session: Session): Promise<MayAllow> {
      const bounds = new Map<string, Prover>();
      for (const maker of makers) {
        const prover = await boundsOf(maker, session);
        if (prover) bounds.set(maker, prover);
      }
      return (maker, call) => {
        const prover = bounds.get(maker);
        return prover === undefined || prover.prove(call, undefined) !== undefined;
      };
    },
  };
}

function proverFor(grant: readonly string[], hasDangers: HasDangers): Prover {
  const rules = grant.flatMap((match, at) => {
    const read = readMatch(match);
    return "pattern" in read ? [{ id: String(at), pattern: read.pattern }] : [];
  });
  return createProver(rules, hasDangers);
}
