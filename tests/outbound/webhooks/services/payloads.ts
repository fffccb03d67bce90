import { z } from "zod";

/** What each service documents that it takes; anything else, or anything longer, is refused as the service would. */
const PlainText = z.strictObject({
  type: z.literal("plain_text"),
  emoji: z.boolean(),
  text: z.string().min(1).max(3_000),
});
const Mrkdwn = z.strictObject({ type: z.literal("mrkdwn"), text: z.string().min(1).max(3_000) });
const HttpUrl = z.url({ protocol: /^https?$/ });

export const SlackMessage = z.strictObject({
  text: z.string().min(1).max(40_000),
  unfurl_links: z.literal(false),
  unfurl_media: z.literal(false),
  blocks: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({
          type: z.literal("header"),
          text: PlainText.extend({ text: z.string().min(1).max(150) }),
        }),
        z.strictObject({ type: z.literal("section"), text: PlainText }),
        z.strictObject({
          type: z.literal("context"),
          elements: z
            .array(z.union([PlainText, Mrkdwn]))
            .min(1)
            .max(10),
        }),
        z.strictObject({
          type: z.literal("rich_text"),
          elements: z.array(
            z.strictObject({
              type: z.literal("rich_text_preformatted"),
              elements: z.array(z.strictObject({ type: z.literal("text"), text: z.string().min(1).max(3_000) })),
            }),
          ),
        }),
        z.strictObject({
          type: z.literal("actions"),
          elements: z
            .array(
              z.strictObject({
                type: z.literal("button"),
                action_id: z.string().min(1).max(255),
                text: PlainText.extend({ text: z.string().min(1).max(75) }),
                url: HttpUrl.max(3_000),
                style: z.enum(["primary", "danger"]).optional(),
              }),
            )
            .min(1)
            .max(25),
        }),
      ]),
    )
    .min(1)
    .max(50),
});

export const DiscordMessage = z
  .strictObject({
    allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
    embeds: z
      .array(
        z.strictObject({
          title: z.string().min(1).max(256),
          description: z.string().min(1).max(4_096).optional(),
          color: z.int().min(0).max(0xff_ff_ff),
          fields: z
            .array(z.strictObject({ name: z.string().min(1).max(256), value: z.string().min(1).max(1_024) }))
            .max(25),
        }),
      )
      .min(1)
      .max(10),
    components: z
      .array(
        z.strictObject({
          type: z.literal(1),
          components: z
            .array(
              z.strictObject({
                type: z.literal(2),
                style: z.literal(5),
                label: z.string().min(1).max(80),
                url: HttpUrl.max(512),
              }),
            )
            .min(1)
            .max(5),
        }),
      )
      .max(5)
      .optional(),
  })
  .refine(({ embeds }) => JSON.stringify(embeds).length <= 6_000 * 2, "too large")
  .refine(({ embeds }) => embeds.every((embed) => embedSize(embed) <= 6_000), "an embed of more than 6,000 characters");

function embedSize({
  title,
  description = "",
  fields,
}: {
  title: string;
  description?: string | undefined;
  fields: { name: string; value: string }[];
}) {
  return (
    title.length + description.length + fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
  );
}

export const TelegramMessage = z.strictObject({
  chat_id: z.string(),
  message_thread_id: z.string().optional(),
  text: z.string().min(1),
  parse_mode: z.literal("HTML"),
  link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
  disable_notification: z.boolean(),
  reply_markup: z
    .strictObject({
      inline_keyboard: z.array(z.array(z.strictObject({ text: z.string().min(1).max(64), url: HttpUrl }))),
    })
    .optional(),
});

export const NtfyMessage = z.strictObject({
  topic: z.string().regex(/^[\w-]{1,64}$/),
  title: z.string().min(1).max(500),
  message: z.string().refine((text) => Buffer.byteLength(text) <= 4_096, "more than 4,096 bytes"),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()).optional(),
  markdown: z.literal(false),
  click: HttpUrl.optional(),
  actions: z.array(z.strictObject({ action: z.literal("view"), label: z.string().min(1), url: HttpUrl })).max(3),
});

/** A piece of a Telegram message: its visible text, and whether it stands in code, where nothing is a link or a mention. */
export type TelegramPiece = { text: string; isCode: boolean };

/** Reads HTML as strictly as Telegram does: an unknown tag, a bare `<` or an open tag refuses the whole message. */
export function telegramPieces(html: string): TelegramPiece[] {
  const open: string[] = [];
  const pieces: TelegramPiece[] = [];
  for (const part of html.split(/(<[^>]*>)/)) {
    const tag = /^<(\/?)(b|code|pre)>$/.exec(part);
    if (tag?.[2] && !tag[1]) open.push(tag[2]);
    else if (tag?.[2] && open.pop() !== tag[2]) throw new Error(`can't parse entities: ${part}`);
    else if (!tag && /[<>]|&(?!(amp|lt|gt|quot);)/.test(part)) throw new Error(`can't parse entities: ${part}`);
    else if (!tag && part !== "") pieces.push({ text: unescaped(part), isCode: open.some((name) => name !== "b") });
  }
  if (open.length > 0) throw new Error(`can't find the end of ${open}`);
  if (pieces.reduce((sum, { text }) => sum + text.length, 0) > 4_096) throw new Error("message is too long");
  return pieces;
}

function unescaped(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}
