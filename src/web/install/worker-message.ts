/** What the worker tells an open page: where a person wants to go who pressed a notification. */
export type WorkerMessage = { type: "open"; to: string };
