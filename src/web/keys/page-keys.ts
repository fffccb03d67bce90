import { isTyping, type Key, keysOf } from "../inbox/keys.ts";
import type { Page } from "../page.ts";
import { PAGES } from "../pages.ts";
import type { User } from "../user.ts";

/** The time within which the second key of a sequence counts. */
const SEQUENCE_MS = 1_500;

type Keys = { group: string; keys: Key[] };

/** Every key with its effect, used for acting on keys and for the help. */
export function allKeys(user: User): Keys[] {
  return [
    { group: "Everywhere", keys: pageKeysOf(user) },
    { group: "Requests", keys: keysOf(user) },
  ];
}

function pageKeysOf(user: User): Key[] {
  return [
    ...PAGES.map(({ key, name, to }) => ({
      keys: [`g ${key}`],
      does: `go to ${name}`,
      act: () => {
        location.hash = to;
      },
    })),
    { keys: ["n"], does: "new session", act: () => (user.isStartOpen.value = true) },
    { keys: ["/"], does: "filter or search what is listed", act: focusFilter },
    {
      keys: ["z"],
      does: "take back a denial, before it is sent",
      act: () => user.deciding.holding.takeBack(),
    },
    { keys: ["Ctrl+K"], does: "find a session, a request, a page or a command", act: () => openPalette(user) },
    { keys: ["?"], does: "this help", act: () => (user.isHelpOpen.value = true) },
  ];
}

function openPalette(user: User): void {
  user.isPaletteOpen.value = true;
}

/** The filter field of a page has the attribute `data-filter`. */
function focusFilter(): void {
  document.querySelector<HTMLInputElement>("input[data-filter]")?.focus();
}

/** Acts on keys that work on every page and on sequences of two keys. Returns a function that stops this. */
export function handlePageKeys(user: User, { router }: Pick<Page, "router">): () => void {
  const pageKeys = pageKeysOf(user);
  const requestKeys = keysOf(user).filter(({ keys }) => keys.some((key) => key.includes(" ")));
  let first: { key: string; at: number } | undefined;

  function find(event: KeyboardEvent): Key | undefined {
    const isFollowing = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS;
    const pressed = isFollowing ? `${first?.key} ${event.key}` : event.key;
    first = undefined;
    const isAtRequests = router.route.peek().page === "inbox" || user.requests.isBesideTranscript();
    const known = isAtRequests ? [...pageKeys, ...requestKeys] : pageKeys;
    const found = known.find(({ keys }) => keys.includes(pressed));
    if (!found && known.some(({ keys }) => keys.some((key) => key.startsWith(`${event.key} `))))
      first = { key: event.key, at: event.timeStamp };
    return found;
  }

  const onKey = (event: KeyboardEvent) => {
    if (document.querySelector("dialog[open]")) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette(user);
      return;
    }
    if (isCommand || event.altKey || isTyping(event.target)) return;
    const wasWaiting = first !== undefined;
    const found = find(event);
    // The second key of an unknown sequence has no effect of its own.
    if (!found && !first && !wasWaiting) return;
    event.preventDefault();
    found?.act(event.key);
  };
  addEventListener("keydown", onKey, { capture: true });
  return () => removeEventListener("keydown", onKey, { capture: true });
}
