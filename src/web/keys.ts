import { chooseOption, openQuestion } from "./inbox/answering.ts";
import { move, selected, selectedId, toggleChecked } from "./inbox/asks.ts";
import { allowByKey, answer, dialog, disarm, targets } from "./inbox/deciding.ts";
import { route } from "./route.ts";
import { callersOwn } from "./wire/callers-own.ts";

export const isHelpOpen = callersOwn(false);

const DIGITS = "123456789";

/** Each key with what it does, for acting on it and for the help alike. */
export const KEYS: { keys: string[]; shown?: string; does: string; act: (key: string) => void }[] = [
  { keys: ["j", "ArrowDown"], does: "next ask", act: () => move(1) },
  { keys: ["k", "ArrowUp"], does: "previous ask", act: () => move(-1) },
  { keys: ["g"], does: "oldest ask", act: () => move(Number.NEGATIVE_INFINITY) },
  { keys: ["G"], does: "newest ask", act: () => move(Number.POSITIVE_INFINITY) },
  { keys: ["a"], does: "allow; what is dangerous wants it twice", act: () => void allowByKey() },
  { keys: ["d"], does: "deny, with a reason", act: () => open("deny") },
  { keys: [...DIGITS], shown: "1–9", does: "choose an answer to a question", act: chooseByKey },
  { keys: ["Enter"], does: "answer the question", act: () => void answer() },
  { keys: ["e"], does: "edit the input, and allow it", act: () => open("edit") },
  {
    keys: ["x"],
    does: "select, to decide several at once",
    act: () => selectedId.value && toggleChecked(selectedId.value),
  },
  { keys: ["Escape"], does: "take back a first press", act: disarm },
];

export function handleKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.repeat && event.key === "a")) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "?") {
      isHelpOpen.value = true;
      return;
    }
    const found = route.peek().page === "inbox" ? KEYS.find(({ keys }) => keys.includes(event.key)) : undefined;
    if (!found || (event.key.startsWith("Arrow") && isInCard(event.target))) return;
    if (event.key === "Enter" && (openQuestion() === undefined || isPressed(event.target))) return;
    event.preventDefault();
    found.act(event.key);
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

function chooseByKey(key: string): void {
  const question = openQuestion();
  if (question) chooseOption(question, DIGITS.indexOf(key));
}

function open(which: "deny" | "edit"): void {
  const isPossible =
    which === "deny" ? targets().length > 0 : selected.peek()?.outcome === undefined && selected.peek();
  if (isPossible) dialog.value = which;
}

/** There the arrows scroll, and choose between options. */
function isInCard(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(".card") !== null;
}

/** There Enter presses what has the focus; in the list that is the ask that is looked at already. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null && !target.closest(".ask-list");
}

/** A checkbox takes no letters, so that keys work on it too. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
