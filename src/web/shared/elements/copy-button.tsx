import { useSignal } from "@preact/signals";
import { usePage } from "../../context.ts";
import { Icon } from "./icons.tsx";

/** How long the button confirms the copy. */
const DONE_MS = 2_000;

/** Copies a text unchanged, including invisible characters. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { announcer } = usePage();
  const isDone = useSignal(false);
  const copy = async () => {
    if (!(await copied(text))) return announcer.complain("This browser does not let the page copy: select the text.");
    announcer.announce("Copied");
    isDone.value = true;
    setTimeout(() => {
      isDone.value = false;
    }, DONE_MS);
  };
  return (
    <button type="button" class="copy-button" aria-label={label} title={label} onClick={() => void copy()}>
      <Icon name={isDone.value ? "done" : "copy"} />
    </button>
  );
}

/** The clipboard API needs a loopback address or TLS; the old command works everywhere. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByCommand(text);
  }
}

function copiedByCommand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  // A modal dialog makes everything outside of it unselectable.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  const focused = document.activeElement;
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
