import type { JsonObject } from "../../../src/contract/values.ts";
import { type Receiver, SECRET, startReceiver } from "../../outbound/webhooks/webhook-receiver.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { ask, sessionOf } from "../support/callers.ts";

const OPERATOR = { kind: "operator" } as const;

type Options = NonNullable<Parameters<typeof startPlexus>[0]> & { options?: string };

/** A webhook receiver for servers that send links. */
export async function startLinked() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const receiver = stack.use(startReceiver());
  const owned = stack.move();
  return {
    receiver,
    dataDir: directory.path,
    start: ({ options = "#name=phone&decide=any", flags, ...rest }: Options = {}): Promise<Plexus> =>
      startPlexus({
        flags: { webhook: `${receiver.url}${options}`, webhookSecret: SECRET, ...flags },
        dataDir: directory.path,
        ...rest,
      }),
    /** Files a request of a new session; returns it with its link. */
    async asked(plexus: Plexus, input: JsonObject = { command: "make" }) {
      const { session, token } = await sessionOf(plexus, OPERATOR);
      const waiting = await ask(plexus, session, { input });
      return { ...waiting, token, ...(await linkIn(receiver, waiting.approvalId)) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The link that was sent for a request, and its URL. */
export async function linkIn(receiver: Receiver, approvalId: string): Promise<{ url: string; link: string }> {
  const url = await until("the link", () => {
    const sent = receiver.received.findLast(({ text }) => text.includes(approvalId) && text.includes("decide_url"));
    return sent && String(JSON.parse(sent.text).decide_url);
  });
  return { url, link: new URL(url).hash.slice(1) };
}

/** Posts as the link's page does, without a token. */
export function postLink(
  plexus: Plexus,
  verb: "open" | "decide",
  body: object,
  init: RequestInit & { token?: string } = {},
) {
  return plexus.fetch(`/api/v1/links/${verb}`, { method: "POST", token: null, body: JSON.stringify(body), ...init });
}
