import type { ComponentChildren } from "preact";
import { Visible } from "../elements/visible.tsx";

/** A link in a text, with its target beside its words. Only web addresses can be followed. */
export function Address({ to, title, children }: { to: string; title: string; children: ComponentChildren }) {
  const url = URL.parse(to);
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  // The browser's normal form reveals letters that only look like others.
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
