import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { deliveryWords } from "../../client/words/delivery-words.ts";
import { listWebhooks, testWebhook, type WebhookStatus } from "../../contract/routes/webhooks.ts";
import { usePage } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { reasonOf } from "../shared/reason.ts";

const TOLD: Record<WebhookStatus["events"][number], string> = {
  approval_requested: "requests",
  approval_resolved: "decisions",
  unasked_call: "calls that were not allowed",
  turn_ended: "ends of turns",
};

/** The configured webhooks, without their addresses, and whether messages arrive. */
export function WebhookSettings() {
  const { api, announcer } = usePage();
  const webhooks = useSignal<WebhookStatus[] | undefined>(undefined);
  const read = async () => {
    try {
      webhooks.value = (await api.call(listWebhooks)).webhooks;
    } catch (cause) {
      announcer.complain(`The webhooks can't be listed: ${reasonOf(cause)}`);
    }
  };
  useEffect(() => void read(), []);
  return (
    <section class="setting" aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      {webhooks.value?.length === 0 && (
        <p class="note">
          None is told of anything. <code>PLEXUS_WEBHOOK=URL plexus serve</code> tells ntfy, Slack, Discord, Telegram or
          a program of yours.
        </p>
      )}
      {webhooks.value && webhooks.value.length > 0 && (
        <ul class="webhooks">
          {webhooks.value.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} onTested={read} />
          ))}
        </ul>
      )}
    </section>
  );
}

function WebhookRow({ webhook, onTested }: { webhook: WebhookStatus; onTested: () => Promise<void> }) {
  const { api, announcer } = usePage();
  const isSending = useSignal(false);
  const { id, name, host, format, events, decide } = webhook;
  const send = async () => {
    isSending.value = true;
    try {
      const delivery = await api.call(testWebhook, { params: { id } });
      announcer.announce(`Test message to ${name}: ${deliveryWords(delivery)}.`);
    } catch (cause) {
      announcer.complain(`No test message was sent to ${name}: ${reasonOf(cause)}`);
    }
    await onTested();
    isSending.value = false;
  };
  return (
    <li>
      <p>
        <b>{name}</b>{" "}
        <span class="note">{format === "plexus" ? `signed events to ${host}` : `${format}, ${host}`}</span>
      </p>
      <p class="note">
        Told of {events.map((event) => TOLD[event]).join(", ")}
        {decide !== null && `; its links ${decide === "any" ? "allow or deny" : decide}`}
      </p>
      <LastMessage webhook={webhook} />
      <button
        type="button"
        class="button small"
        disabled={isSending.value}
        aria-label={`Send a test message to ${name}`}
        onClick={() => void send()}
      >
        {isSending.value ? "Sending…" : "Send a test"}
      </button>
    </li>
  );
}

function LastMessage({ webhook: { last, behind } }: { webhook: WebhookStatus }) {
  if (last === null) return <p class="note">No message since the server was started</p>;
  const isBad = last.outcome !== "delivered";
  return (
    <p>
      {last.is_test ? "Last test" : "Last message"} at {moment(last.at)}:{" "}
      <span class={isBad ? "bad" : undefined}>{deliveryWords(last)}</span>
      {isBad && behind > 0 && `; ${behind} changes are still to be told`}
    </p>
  );
}
