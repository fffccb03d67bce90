import { signal } from "@preact/signals";

const said = signal("");
const failed = signal("");

/** Tells those who listen to the page, and shows for a moment to those who look at it. */
export function announce(text: string): void {
  said.value = text;
}

/** A failure of ours stays until something else is said. */
export function complain(text: string): void {
  failed.value = text;
}

export function Announcer() {
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
