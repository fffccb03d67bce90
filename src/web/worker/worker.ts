declare const self: ServiceWorkerGlobalScope;

/** The worker of the page. It answers no request and keeps nothing: all that it knows is what a push says. */
self.addEventListener("install", () => void self.skipWaiting());

export {};
