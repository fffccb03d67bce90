import { signal } from "@preact/signals";
import { usePage } from "../context.ts";

export type Announcer = ReturnType<typeof createAnnouncer>;

/** What the page has to say apart from what it shows. */
export function createAnnouncer() {
  const said = signal("");
  const failed = signal("");
  return {
    said,
    failed,
    /** Tells those who listen to the page. */
    announce(text: string): void {
      said.value = text;
    },
    /** Shows a failure until something else is said. */
    complain(text: string): void {
      failed.value = text;
    },
  };
}

export function AnnouncerView() {
  const { said, failed, complain } = usePage().announcer;
  return (
    <>
      <p class="unseen" role="status">
        {said}
      </p>
      <div class="toast" role="alert" hidden={failed.value === ""}>
        <span>{failed}</span>
        <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => complain("")}>
          ×
        </button>
      </div>
    </>
  );
}
