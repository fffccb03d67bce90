import { cutWritten } from "../cut.ts";
import { type Message, timeOfDay } from "../message.ts";

/** In bytes. ntfy turns a longer message into a file attachment. */
const MAX_MESSAGE_BYTES = 4_096;
const MAX_DANGERS_BYTES = 1_500;
/** Reserved for the separators between the parts. */
const AROUND_BYTES = 20;

const PRIORITIES: Record<Message["urgency"], number> = { normal: 3, high: 4, highest: 5 };

/** A message for a topic, as plain text: ntfy parses no markup in it. */
export function ntfyBody(message: Message, url: string): object {
  const { headline, session, tool, text, dangers, cwd, expiresAt, expiresIn, urgency, links } = message;
  const warnings = cutBytes(dangers.map((danger) => `⚠️ It ${danger}`).join("\n"), MAX_DANGERS_BYTES);
  const after = [
    ...(warnings === "" ? [] : [warnings]),
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(expiresAt === undefined ? [] : [`Expires in ${expiresIn} (${timeOfDay(expiresAt)})`]),
  ].join("\n");
  const room = MAX_MESSAGE_BYTES - AROUND_BYTES - bytesOf(after);
  const shown = cutBytes(text, room);
  return {
    topic: new URL(url).pathname.slice(1),
    title: `${headline}: ${session}${tool === undefined ? "" : ` · ${tool}`}`,
    message: [shown, after].filter(Boolean).join("\n\n") || headline,
    priority: PRIORITIES[urgency],
    ...(dangers.length > 0 && { tags: ["warning"] }),
    markdown: false,
    ...(links[0] && { click: links[0].url }),
    actions: links.map(({ label, url: to }) => ({ action: "view", label, url: to })),
  };
}

/** JSON messages are posted to the server's root, whatever their topic. */
export function ntfyUrl(url: string): string {
  const address = new URL(url);
  address.pathname = "/";
  return address.href;
}

function cutBytes(text: string, limit: number): string {
  return cutWritten(text, limit, (part) => part, bytesOf);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
