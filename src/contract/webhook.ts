import { z } from "zod";

/** Names and addresses of private networks. */
const PRIVATE_HOSTS = [
  /^[^.:]+$/,
  /\.(localhost|local|internal|home\.arpa)$/,
  /^(127|10)(\.\d+){3}$/,
  /^(192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))(\.\d+){2}$/,
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/,
];

/** Where changes are posted: over TLS, or within a private network. */
export const WebhookUrl = z.string().superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: "custom", message });
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return refuse("must be an http or https URL");
  if (url.username || url.password) return refuse("must be a URL without a user name and a password");
  if (url.protocol === "https:" || PRIVATE_HOSTS.some((pattern) => pattern.test(url.hostname))) return;
  refuse("must be an https URL, or one of this machine or a private network");
});
