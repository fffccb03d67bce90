import { signal } from "@preact/signals";
import { usePage } from "../context.ts";

/** For how long a note is on the screen. */
const NOTED_MS = 10_000;

type Note = { text: string; link: { to: string; name: string } };

export type Announcer = ReturnType<typeof createAnnouncer>;

/** What the page has to say apart from what it shows. */
export function createAnnouncer() {
  const said = signal("");
  const failed = signal("");
  const noted = signal<Note | undefined>(undefined);
  return {
    said,
    failed,
    noted,
    /** Tells those who listen to the page. */
    announce(text: string): void {
      said.value = text;
    },
    /** Shows what was done, with where to find it, for a while. */
    note(note: Note): void {
      noted.value = note;
      setTimeout(() => {
        if (noted.peek() === note) noted.value = undefined;
      }, NOTED_MS);
    },
    /** Shows a failure until something else is said. */
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
