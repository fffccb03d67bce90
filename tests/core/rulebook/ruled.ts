import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { App, Principal, Session } from "../../../src/app.ts";
import { PermitInput } from "../../../src/contract/approvals/approval.ts";
import type { RuleInput } from "../../../src/contract/rules/rule.ts";
import type { JsonObject } from "../../../src/contract/values.ts";
import type { WaitingRequest } from "../../../src/core/approvals/request.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { OPERATOR } from "../open-core.ts";

type Options = Pick<NonNullable<Parameters<typeof startPlexus>[0]>, "clocks" | "flags">;

/** The result of a call: its status, who decided it, and the message to the child if it was denied. */
export type Ruled = { id: string; status: string; by: string | null; message: string | null };

export type RuledPlexus = Awaited<ReturnType<typeof startRuled>>;

/** A server with a working directory whose children make requests. */
export async function startRuled(options: Options = {}) {
  await using stack = new AsyncDisposableStack();
  const { path: place } = stack.use(await temporaryDirectory());
  const plexus = stack.use(await startPlexus(options));
  const { app } = plexus;
  const owned = stack.move();

  async function session(name = "child", principal: Principal = OPERATOR): Promise<Session> {
    return (await app.sessionCommands.configure(principal, { name, working_dir: place })).session;
  }

  return {
    ...plexus,
    place,
    session,
    /** Writes a file into the working directory. */
    write(path: string, text = "text\n"): string {
      const file = join(place, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    add: async (rule: RuleInput, principal: Principal = OPERATOR) => (await app.rules.add(principal, rule)).rule,
    /** Makes a named token and returns its secret. */
    async token(name: string, grant?: string[]): Promise<{ principal: Principal; secret: string }> {
      const { id, token } = await app.tokens.createNamed(name, grant);
      return { principal: { kind: "token", id, name }, secret: token };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export const BASH = (command: string): Asked => ["Bash", { command }];
type Asked = [tool: string, input: JsonObject];

/** A request that waits, or that a rule answered. */
export async function asking(
  { app }: { app: App },
  session: Session,
  [tool_name, input]: Asked,
): Promise<WaitingRequest> {
  return app.approvals.request(session, PermitInput.parse({ tool_name, input }));
}

/** The result of a call made now. */
export async function ruling(plexus: Pick<Plexus, "app">, session: Session, asked: Asked): Promise<Ruled> {
  using waiting = await asking(plexus, session, asked);
  return rulingOn(plexus, waiting);
}

/** The result of an earlier call. */
export async function rulingOn({ app }: Pick<Plexus, "app">, { approvalId }: WaitingRequest): Promise<Ruled> {
  const { status, resolved_by, response_message } = await app.approvals.get(OPERATOR, approvalId);
  return { id: approvalId, status, by: resolved_by ?? null, message: response_message ?? null };
}
