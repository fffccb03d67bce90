import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { deliveryWords } from "../../client/words/delivery-words.ts";
import type { PushSubscriptionStatus } from "../../contract/routes/push.ts";
import { usePage, useUser } from "../context.ts";
import { moment } from "../shared/clock.ts";
import type { PushWanted } from "../shared/preferences.ts";
import { reasonOf } from "../shared/reason.ts";
import { Choices } from "./choices.tsx";

/** In the order of the list. Numeric keys would come first in an object, so the keys are words. */
const WANTED = { no: "no", now: "at once", "30s": "after 30 seconds", "2m": "after 2 minutes" } as const;
type Wanted = keyof typeof WANTED;
const SECONDS: Record<Wanted, PushWanted> = { no: "no", now: "0", "30s": "30", "2m": "120" };

/** Whether this browser gets a push for requests while no page is open, and the other browsers that do. */
export function PushSettings() {
  const { push } = useUser();
  useEffect(() => void push.read(), []);
  const subscriptions = push.status.value?.subscriptions ?? [];
  return (
    <section class="setting" aria-labelledby="push">
      <h2 id="push">Push</h2>
      <ThisBrowser />
      {subscriptions.length > 0 && (
        <ul class="webhooks">
          {subscriptions.map((one) => (
            <PushRow key={one.id} subscription={one} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ThisBrowser() {
  const { preferences } = usePage();
  const { push } = useUser();
  const isChanging = useSignal(false);
  const want = async (wanted: Wanted) => {
    isChanging.value = true;
    await push.want(SECONDS[wanted]);
    isChanging.value = false;
  };
  switch (push.state.value) {
    case "unknown":
      return <p class="note">Looking whether push is set up…</p>;
    case "not_set_up":
      return (
        <p class="note">
          Not set up. <code>plexus serve --push mailto:YOU@EXAMPLE.COM</code> tells phones and browsers of requests
          while no page is open.
        </p>
      );
    case "blocked":
      return (
        <p class="note">
          This browser takes no push here. It needs an address with https, and on an iPhone or iPad the page on the home
          screen.
        </p>
      );
    case "ready": {
      const chosen = Object.entries(SECONDS).find(([, seconds]) => seconds === preferences.pushes.value)?.[0] as Wanted;
      return (
        <>
          <Choices
            legend="Tell this browser of requests while no page is open"
            name="push"
            chosen={chosen}
            words={WANTED}
            onChoose={(wanted) => void want(wanted)}
          />
          <p class="note" role="status">
            {isChanging.value
              ? "Asking the browser…"
              : "A message names the session and the tool, never what is asked for. A delay lets agents decide first."}
          </p>
        </>
      );
    }
  }
}

function PushRow({ subscription }: { subscription: PushSubscriptionStatus }) {
  const { announcer } = usePage();
  const { push } = useUser();
  const isBusy = useSignal(false);
  const { is_own, name, host, after_secs, created_at, ends_at, last } = subscription;
  const doing = (what: string, work: () => Promise<unknown>) => async () => {
    isBusy.value = true;
    await work().catch((cause) => announcer.complain(`${what}: ${reasonOf(cause)}`));
    await push.read();
    isBusy.value = false;
  };
  const called = is_own ? "this browser" : `the browser of ${moment(created_at)}`;
  return (
    <li>
      <p>
        <b>{is_own ? "This browser" : name}</b>{" "}
        <span class="note">
          since {moment(created_at)}, {host}
        </span>
      </p>
      <p class="note">
        Told {after_secs === 0 ? "at once" : `after ${after_secs} seconds`}, until {moment(ends_at)}: then sign in again
      </p>
      <p>
        {last === null ? (
          <span class="note">No message since the server was started</span>
        ) : (
          <>
            {last.is_test ? "Last test" : "Last message"} at {moment(last.at)}:{" "}
            <span class={last.outcome === "delivered" ? undefined : "bad"}>{deliveryWords(last)}</span>
          </>
        )}
      </p>
      <div class="dialog-actions">
        <button
          type="button"
          class="button small"
          disabled={isBusy.value}
          aria-label={`Send a test to ${called}`}
          onClick={doing("No test was sent", () => push.test(subscription))}
        >
          Send a test
        </button>
        <button
          type="button"
          class="button small"
          disabled={isBusy.value}
          aria-label={`Remove ${called}`}
          onClick={doing("It could not be removed", () => push.remove(subscription))}
        >
          Remove
        </button>
      </div>
    </li>
  );
}
