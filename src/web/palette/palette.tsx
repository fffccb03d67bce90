import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { summaryOf } from "../../review/kinds.ts";
import { usePage, useUser } from "../context.ts";
import type { Page } from "../page.ts";
import { PAGES } from "../pages.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import type { User } from "../user.ts";
import { bestMatches } from "./fuzzy.ts";

const SHOWN = 12;
const SUMMARY_CHARS = 80;

type Choice = { id: string; kind: string; text: string; run: () => void };

/** Finds a page, session, request or command by a few of its letters. */
export function Palette() {
  const page = usePage();
  const user = useUser();
  useEffect(user.sessions.watch, []);
  const typed = useSignal("");
  const at = useSignal(0);
  const found = useComputed(() => bestMatches(typed.value.trim(), choicesOf(page, user), SHOWN));
  const close = () => {
    user.isPaletteOpen.value = false;
  };
  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    choice.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const count = Math.max(1, found.value.length);
    at.value = (at.value + by + count) % count;
  };
  const chosen = Math.min(at.value, found.value.length - 1);
  return (
    <Dialog title="Go to or do" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(found.value[chosen]);
        }}
      >
        <input
          type="text"
          aria-label="A page, session, request or command"
          placeholder="A page, session, request or command"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-choices"
          aria-activedescendant={chosen >= 0 ? `palette-${chosen}` : undefined}
          autocomplete="off"
          spellcheck={false}
          autofocus
          onKeyDown={onKey}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            at.value = 0;
          }}
        />
      </form>
      <div class="choices" id="palette-choices" role="listbox" aria-label="What matches">
        {found.value.map((choice, place) => (
          <ChoiceRow
            key={choice.id}
            choice={choice}
            place={place}
            isChosen={place === chosen}
            onRun={() => run(choice)}
          />
        ))}
      </div>
      {found.value.length === 0 && (
        <p class="note" role="status">
          Nothing matches
        </p>
      )}
    </Dialog>
  );
}

type RowProps = { choice: Choice; place: number; isChosen: boolean; onRun: () => void };

function ChoiceRow({ choice, place, isChosen, onRun }: RowProps) {
  const row = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <button
      type="button"
      ref={row}
      id={`palette-${place}`}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={onRun}
    >
      <span class="kind">{choice.kind}</span>
      <span class="named">{choice.text}</span>
    </button>
  );
}

function choicesOf(page: Page, user: User): Choice[] {
  const go = (to: string) => () => {
    location.hash = to;
  };
  const { theme, notifies } = page.preferences;
  const command = (text: string, run: () => void): Choice => ({ id: text, kind: "command", text, run });
  return [
    ...PAGES.map(({ name, to }) => ({ id: to, kind: "page", text: name, run: go(to) })),
    command("New session", () => (user.isStartOpen.value = true)),
    command("Keys", () => (user.isHelpOpen.value = true)),
    command("Light colours", () => (theme.value = "light")),
    command("Dark colours", () => (theme.value = "dark")),
    command("Colours of the system", () => (theme.value = "system")),
    command(
      notifies.value === "yes" ? "Turn notifications off" : "Turn notifications on",
      () => void page.notifier.want(notifies.peek() === "no"),
    ),
    command("Sign out", () => void page.signOut()),
    ...user.requests.list.value.map(({ approval }) => ({
      id: approval.id,
      kind: "request",
      text: visibleText(
        `${approval.tool_name} of ${approval.session_name}: ${summaryOf(approval).slice(0, SUMMARY_CHARS)}`,
      ),
      run: go(linkTo.request(approval.id)),
    })),
    ...user.sessions.sessions.value.map(({ id, name }) => ({
      id,
      kind: "session",
      text: name,
      run: go(linkTo.session(id)),
    })),
  ];
}
