import { signal } from "@preact/signals";
import { usePage } from "../context.ts";

/** How long a note stays on the screen. */
const NOTED_MS = 10_000;

type Note = { text: string; link: { to: string; name: string } };

export type Announcer = ReturnType<typeof createAnnouncer>;

/** Messages of the page, apart from its content. */
export function createAnnouncer() {
  const said = signal("");
  const failed = signal("");
  const noted = signal<Note | undefined>(undefined);
  return {
    said,
    failed,
    noted,
    /** Announces a text to screen readers. */
    announce(text: string): void {
      said.value = text;
    },
    /** Shows what was done for a while, with a link to it. */
    note(note: Note): void {
      noted.value = note;
      setTimeout(() => {
        if (noted.peek() === note) noted.value = undefined;
      }, NOTED_MS);
    },
    /** Shows a failure until the next message. */
    complain(text: string): void {
      failed.value = text;
    },
  };
}

export function AnnouncerView() {
  const { said, failed, noted, complain } = usePage().announcer;
  const note = noted.value;
  const dismiss = () => {
    noted.value = undefined;
  };
  return (
    <>
      <p class="unseen" role="status">
        {said}
      </p>
      {note && (
        <div class="toast noted">
          <span>{note.text}</span>
          <a href={note.link.to} onClick={dismiss}>
            {note.link.name}
          </a>
          <button type="button" class="icon-button" aria-label="Dismiss the note" onClick={dismiss}>
            ×
          </button>
        </div>
      )}
      <div class="toast" role="alert" hidden={failed.value === ""}>
        <span>{failed}</span>
        <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => complain("")}>
          ×
        </button>
      </div>
    </>
  );
}
