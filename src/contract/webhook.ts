import { z } from "zod";
import { LinkVerdict } from "./link.ts";
import { urlProblem } from "./url.ts";

const MAX_NAME = 40;
/** The events that webhooks can send; each is an event of `/api/v1/events`. */
export const ToldKind = z.enum(["approval_requested", "approval_resolved", "unasked_call", "turn_ended"]);
export type ToldKind = z.infer<typeof ToldKind>;
/** The default events for chats: those that need a person, which a made decision doesn't. */
const TOLD_IN_CHAT: ToldKind[] = ["approval_requested", "unasked_call", "turn_ended"];

export const WebhookFormat = z.enum(["plexus", "ntfy", "slack", "discord", "telegram"]);
export type WebhookFormat = z.infer<typeof WebhookFormat>;

/** Where and how to post changes. */
export type Webhook = {
  /** Without the options in its fragment, which are not sent. */
  url: string;
  /** The name that the record shows for decisions by its links. */
  name: string;
  format: WebhookFormat;
  events: ToldKind[];
  /** What the link in a message may decide; undefined if the operator wants no links. */
  decide: LinkVerdict | undefined;
};

type Options = Omit<Webhook, "url">;
type Problem = { problem: string };

/** A URL with options in its fragment: `https://ntfy.sh/topic#format=ntfy&name=phone`. */
export const WebhookSetting = z.string().transform((text, context): Webhook => {
  const read = readWebhook(text);
  if (!("problem" in read)) return read;
  context.addIssue({ code: "custom", message: read.problem });
  return z.NEVER;
});

function readWebhook(text: string): Webhook | Problem {
  const parsed = URL.parse(text);
  const problem = urlProblem(parsed);
  if (!parsed || problem) return { problem: problem ?? "" };
  const options = readOptions(new URLSearchParams(parsed.hash.slice(1)));
  if ("problem" in options) return options;
  const [url = ""] = text.split("#");
  const misfit = misfitOf(parsed, options.format);
  return misfit ? { problem: misfit } : { url, ...options };
}

const OPTIONS = ["format", "name", "events", "decide"] as const;

function readOptions(given: URLSearchParams): Options | Problem {
  for (const key of given.keys())
    if (!OPTIONS.some((option) => option === key))
      return { problem: `has an unknown option after #: the options are ${OPTIONS.join(", ")}` };
  const format = WebhookFormat.safeParse(given.get("format") ?? "plexus");
  if (!format.success) return { problem: `must have as format one of ${WebhookFormat.options.join(", ")}` };
  const name = given.get("name") ?? (format.data === "plexus" ? "webhook" : format.data);
  if (!/^[\w.-]+$/.test(name) || name.length > MAX_NAME)
    return { problem: `must have a name of at most ${MAX_NAME} letters, digits, dots, dashes and underscores` };
  const told = format.data === "plexus" ? ToldKind.options : TOLD_IN_CHAT;
  const events = z
    .array(ToldKind)
    .min(1)
    .safeParse(given.get("events")?.split(/[ +]+/) ?? told);
  if (!events.success) return { problem: `must have as events some of ${ToldKind.options.join(", ")}, joined by +` };
  const decide = LinkVerdict.optional().safeParse(given.get("decide") ?? undefined);
  if (!decide.success) return { problem: `must have as decide one of ${LinkVerdict.options.join(", ")}` };
  return { format: format.data, name, events: events.data, decide: decide.data };
}

/** Returns what is missing in the URL for this service's format. */
function misfitOf(url: URL, format: WebhookFormat): string | undefined {
  if (format === "telegram" && !(url.pathname.endsWith("/sendMessage") && url.searchParams.get("chat_id")))
    return "must be https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID for Telegram";
  if (format === "ntfy" && !/^\/[\w-]{1,64}$/.test(url.pathname))
    return "must be the URL of a topic for ntfy, such as https://ntfy.sh/TOPIC";
  return undefined;
}

/** Refuses the same URL with two sets of options, and two deciding webhooks with the same name. */
export const WebhookSettings = z
  .array(WebhookSetting)
  .max(20, "must be at most 20 URLs")
  .superRefine((webhooks, context) => {
    const repeated = webhooks.some((one, at) => webhooks.some((other, later) => later > at && clash(one, other)));
    if (repeated) context.addIssue({ code: "custom", message: "must not have the same URL twice with other options" });
    const deciding = new Map(webhooks.filter(({ decide }) => decide).map(({ url, name }) => [url, name]));
    if (new Set(deciding.values()).size < deciding.size)
      context.addIssue({ code: "custom", message: "must have a name of its own for each URL with decide" });
  });

function clash(one: Webhook, other: Webhook): boolean {
  return one.url === other.url && JSON.stringify(one) !== JSON.stringify(other);
}
