import { z } from "zod";

/** How long a tab waits for other tabs before it shows the sign-in page. */
const ANSWER_MS = 300;

const Message = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ask"), from: z.string() }),
  z.strictObject({ type: z.literal("token"), to: z.string(), token: z.string() }),
  z.strictObject({ type: z.literal("signed_out"), token: z.string() }),
]);
type Message = z.infer<typeof Message>;

type TabsNeed = {
  /** The token of the person who is signed in here. */
  token: () => string | undefined;
  /** Called when another tab has signed out and ended this token. */
  onSignedOut: (token: string) => void;
};

/** Connects the tabs of this browser on this server. Pages of other origins can't use the channel. */
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
    /** The token of the first signed-in tab that answers; `undefined` if none does. */
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
