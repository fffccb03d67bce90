import type { Delivery, DeliveryFailure } from "../../contract/routes/webhooks.ts";

const FAILURES: Record<DeliveryFailure, string> = {
  timeout: "no answer within 10 seconds",
  unknown_host: "its host is not known",
  refused: "it refuses connections",
  certificate: "its TLS certificate is not accepted",
  private_address: "its host leads to a private network",
  connection: "it can't be reached",
};

/** Describes the result of an attempt to post. */
export function deliveryWords({ outcome, status, failure }: Delivery): string {
  if (failure !== null) return FAILURES[failure];
  switch (outcome) {
    case "delivered":
      return `delivered (${status})`;
    case "failed":
      return `it answered ${status}, for now`;
    case "refused":
      return `it refused the message (${status})`;
    case "gone":
      return `it answered that it is gone (${status})`;
  }
}
