/** A message from the worker to an open page: the target of a notification that the person pressed. */
export type WorkerMessage = { type: "open"; to: string };
