import { z } from "zod";

/** So long a tab waits for the others, before it shows how to sign in. */
const ANSWER_MS = 300;

const Message = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ask"), from: z.string() }),
  z.strictObject({ type: z.literal("token"), to: z.string(), token: z.string() }),
  z.strictObject({ type: z.literal("signed_out"), token: z.string() }),
]);
type Message = z.infer<typeof Message>;

type TabsNeed = {
  /** Of the person who is signed in here. */
  token: () => string | undefined;
  /** Another tab has signed out, and with it this token. */
  onSignedOut: (token: string) => void;
};

/** The tabs of this browser on this server: no page of another origin can listen to their channel, or speak on it. */
export function createTabs({ token, onSignedOut }: TabsNeed) {
  const channel = new BroadcastChannel("plexus-tabs");
  const self = crypto.randomUUID();
  const send = (message: Message) => channel.postMessage(message);
  let answer: ((token: string) => void) | undefined;

  channel.addEventListener("message", ({ data }) => {
    const message = Message.safeParse(data).data;
    if (message?.type === "ask") {
      const own = token();
      if (own !== undefined) send({ type: "token", to: message.from, token: own });
    }
    if (message?.type === "token" && message.to === self) answer?.(message.token);
    if (message?.type === "signed_out") onSignedOut(message.token);
  });

  return {
    /** The token of the first tab that is signed in; `undefined` where none answers. */
    askForToken(): Promise<string | undefined> {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      answer = resolve;
      send({ type: "ask", from: self });
      setTimeout(() => resolve(undefined), ANSWER_MS);
      return promise;
    },
    tellSignedOut: (ended: string): void => send({ type: "signed_out", token: ended }),
  };
}
