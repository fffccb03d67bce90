import type { ComponentChildren } from "preact";
import { Visible } from "../elements/visible.tsx";

/** A link of a text, with where it leads beside what it says; anything but a web address can't be followed. */
export function Address({ to, title, children }: { to: string; title: string; children: ComponentChildren }) {
  const url = URL.parse(to);
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  // As the browser reads it: letters that only look like others show as what they are.
  const address = isWeb ? url.href : to;
  const shown = (
    <span class="link-address">
      <Visible text={address} />
    </span>
  );
  const link = isWeb ? (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? shown}
    </a>
  ) : (
    (children ?? shown)
  );
  if (children === undefined) return link;
  return (
    <>
      {link} ({shown}
      <Visible text={title === "" ? "" : ` ${JSON.stringify(title)}`} />)
    </>
  );
}
