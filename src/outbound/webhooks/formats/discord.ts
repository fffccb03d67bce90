import { cutWritten } from "../cut.ts";
import { type Message, timeOfDay } from "../message.ts";
import { isShareable } from "../shareable.ts";

const MAX_TITLE = 256;
/** Far below what one description may have: all parts of an embed together may have 6,000 characters. */
const MAX_DESCRIPTION = 3_000;
const MAX_FIELD = 1_024;

const COLOURS: Record<Message["urgency"], number> = { normal: 0x5b6b7f, high: 0x2f6fed, highest: 0xd1242f };

/** An embed for a webhook of a channel; nobody is mentioned, whatever the text says. */
export function discordBody(message: Message): object {
  const { headline, session, tool, text, dangers, cwd, expiresAt, urgency, links } = message;
  const title = `${headline}: ${session}${tool === undefined ? "" : ` · ${tool}`}`;
  // Discord refuses a whole message for the address of this machine in a button.
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

/** A webhook that no application owns may send buttons that only lead somewhere, if it says so. */
export function discordUrl(url: string): string {
  const address = new URL(url);
  address.searchParams.set("with_components", "true");
  return address.href;
}

function field(name: string, text: string): { name: string; value: string } {
  return { name, value: cutWritten(text, MAX_FIELD, escaped) };
}

/** No markdown, no mention and no link that is made of text. */
function escaped(text: string): string {
  return text.replace(/[\\`*_~|>[\]()#<@:.-]/g, "\\$&");
}

/** Three backticks would end the block. */
function codeBlock(text: string): string {
  return `\`\`\`\n${text.replaceAll("`", "`\u200b")}\n\`\`\``;
}
