import { cutWritten } from "../cut.ts";
import { type Message, timeOfDay } from "../message.ts";
import { isShareable } from "../shareable.ts";

const MAX_TITLE = 256;
/** Far below the limit of one description, because all parts of an embed share 6,000 characters. */
const MAX_DESCRIPTION = 3_000;
const MAX_FIELD = 1_024;

const COLOURS: Record<Message["urgency"], number> = { normal: 0x5b6b7f, high: 0x2f6fed, highest: 0xd1242f };

/** An embed for a channel's webhook. It mentions no one, whatever the text contains. */
export function discordBody(message: Message): object {
  const { headline, session, tool, text, dangers, cwd, expiresAt, urgency, links } = message;
  const title = `${headline}: ${session}${tool === undefined ? "" : ` · ${tool}`}`;
  // Discord refuses a message if a button has an address of this machine.
  const buttons = links.filter(({ url }) => isShareable(url));
  const fields = [
    ...(dangers.length === 0 ? [] : [field("Dangers", dangers.map((danger) => `⚠️ It ${danger}`).join("\n"))]),
    ...(cwd === undefined ? [] : [field("Directory", cwd)]),
    ...(expiresAt === undefined ? [] : [{ name: "Expires", value: `<t:${expiresAt}:R> (${timeOfDay(expiresAt)})` }]),
    ...links.filter(({ url }) => !isShareable(url)).map(({ label, url }) => ({ name: label, value: url })),
  ];
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: cutWritten(title, MAX_TITLE, escaped),
        ...(text !== "" && { description: cutWritten(text, MAX_DESCRIPTION, codeBlock) }),
        color: COLOURS[urgency],
        fields,
      },
    ],
    ...(buttons.length > 0 && {
      components: [{ type: 1, components: buttons.map(({ label, url }) => ({ type: 2, style: 5, label, url })) }],
    }),
  };
}

/** A webhook without an application may send link buttons if the URL asks for them. */
export function discordUrl(url: string): string {
  const address = new URL(url);
  address.searchParams.set("with_components", "true");
  return address.href;
}

function field(name: string, text: string): { name: string; value: string } {
  return { name, value: cutWritten(text, MAX_FIELD, escaped) };
}

/** Escapes markdown, mentions and links. */
function escaped(text: string): string {
  return text.replace(/[\\`*_~|>[\]()#<@:.-]/g, "\\$&");
}

/** Breaks up three backticks, which would end the block. */
function codeBlock(text: string): string {
  return `\`\`\`\n${text.replaceAll("`", "`\u200b")}\n\`\`\``;
}
