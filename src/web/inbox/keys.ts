import { choose } from "../../review/choices.ts";
import type { Router } from "../shared/route.ts";
import type { User } from "../user.ts";

const DIGITS = "123456789";

export type Key = { keys: string[]; shown?: string; does: string; act: (key: string) => void };

/** Every key with its effect, used for acting on keys and for the help. */
export function keysOf({ requests, deciding }: Pick<User, "requests" | "deciding">): Key[] {
  const { inbox, answers, question } = requests;
  return [
    { keys: ["j", "ArrowDown"], does: "next request", act: () => requests.move(1) },
    { keys: ["k", "ArrowUp"], does: "previous request", act: () => requests.move(-1) },
    { keys: ["g g"], does: "oldest request", act: () => requests.move(Number.NEGATIVE_INFINITY) },
    { keys: ["G"], does: "newest request", act: () => requests.move(Number.POSITIVE_INFINITY) },
    {
      keys: ["a"],
      does: "allow; a dangerous request needs a second press",
      act: () => void deciding.allowByKey(),
    },
    { keys: ["A"], does: "allow, and remember it as a rule", act: () => void deciding.openRemember() },
    {
      keys: ["d"],
      does: "deny, with a reason",
      act: () => {
        if (deciding.targets().length > 0) deciding.dialog.value = "deny";
      },
    },
    {
      keys: [...DIGITS],
      shown: "1–9",
      does: "choose an answer to a question",
      act: (key) => {
        const open = question.peek();
        if (!open) return;
        const { approval, questions, choices } = open;
        answers.keep(approval.id, choose(questions, choices, choices.at, DIGITS.indexOf(key)));
      },
    },
    { keys: ["Enter"], does: "answer the question", act: () => void deciding.answer() },
    {
      keys: ["e"],
      does: "edit the input, and allow it",
      act: () => {
        if (deciding.canEdit()) deciding.dialog.value = "edit";
      },
    },
    {
      keys: ["x"],
      does: "select, to decide several at once",
      act: () => {
        const id = inbox.selected()?.approval.id;
        if (id && !requests.isBesideTranscript()) inbox.setChecked([id], !requests.checkedIds.peek().has(id));
      },
    },
    { keys: ["Escape"], does: "take back a first press", act: deciding.disarm },
  ];
}

/** Acts on keys. Returns a function that stops this. */
export function handleKeys(user: User, { route }: Router): () => void {
  const keys = keysOf(user);
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (event.repeat && event.key === "a"))
      return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    const isBesideTranscript = user.requests.isBesideTranscript();
    if (route.peek().page !== "inbox" && !(isBesideTranscript && user.requests.selectedNow())) return;
    const found = keys.find((one) => one.keys.includes(event.key));
    // In a transcript or a card, the arrow keys scroll.
    if (!found || (event.key.startsWith("Arrow") && (isBesideTranscript || isInCard(event.target)))) return;
    if (event.key === "Enter" && (!user.requests.question.peek() || isPressed(event.target))) return;
    event.preventDefault();
    found.act(event.key);
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** Inside a card, the arrows scroll and choose between options. */
function isInCard(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(".card") !== null;
}

/** Whether Enter presses the focused element. In the list, that is the request selected already. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null && !target.closest(".request-list");
}

/** Whether the target takes letters. Checkboxes do not, so keys work there too. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
