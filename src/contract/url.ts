import { z } from "zod";

/** Host names and addresses of this machine and of private networks. */
const PRIVATE_HOSTS = [
  /^[^.:]+$/,
  /\.(localhost|local|internal|home\.arpa)$/,
  /^(127|10)(\.\d+){3}$/,
  /^(192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))(\.\d+){2}$/,
  /^\[(::1|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\]$/,
];

/** Returns whether a host belongs to this machine or a private network. */
export function isPrivateHost(hostname: string): boolean {
  return PRIVATE_HOSTS.some((pattern) => pattern.test(hostname));
}

/** Returns why secrets must not be sent to a URL; they may be sent over TLS or within a private network. */
export function urlProblem(url: URL | null): string | undefined {
  if (!url || !/^https?:$/.test(url.protocol)) return "must be an http or https URL";
  if (url.username || url.password) return "must be a URL without a user name and a password";
  if (url.protocol === "https:" || isPrivateHost(url.hostname)) return undefined;
  return "must be an https URL, or one of this machine or a private network";
}

/** The URL under which people reach the page: an origin without a path, because its files are at the root. */
export const PublicUrl = z.string().transform((text, context): string => {
  const url = URL.parse(text);
  const problem =
    urlProblem(url) ?? (url && `${url.origin}/` !== url.href ? "must be a URL without a path" : undefined);
  if (!problem && url) return url.origin;
  context.addIssue({ code: "custom", message: problem ?? "" });
  return z.NEVER;
});

/** A URL that the server reads from time to time, over TLS or within a private network. */
export const SafeUrl = z.string().superRefine((text, context) => {
  const problem = urlProblem(URL.parse(text));
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
});
