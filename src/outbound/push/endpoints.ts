import { type LookupAddress, lookup as lookUpByDns } from "node:dns";
import { type RequestOptions, request as requestPlainly } from "node:http";
import { request as requestOverTls } from "node:https";
import { isIP } from "node:net";
import { isPrivateHost } from "../../contract/url.ts";
import { ANSWER_WITHIN_MS, answered, type Posted, PRIVATE_ADDRESS, unanswered } from "../posted.ts";
import { isPublicAddress } from "./addresses.ts";

/** The statuses with which a push service says that it no longer knows the browser. */
const GONE = [404, 410];

type Outgoing = { endpoint: string; headers: Record<string, string>; body: Buffer; signal: AbortSignal };
type Looked = (error: Error | null, addresses: LookupAddress[]) => void;

export type Endpoints = ReturnType<typeof createEndpoints>;

/**
 * Sends to push services. Browsers name their addresses, so messages go only to public hosts over TLS. This is checked
 * again for each message, on the address of the actual connection. `named` lists hosts that the operator allows anyway.
 */
export function createEndpoints(named: string[], lookUp: typeof lookUpByDns = lookUpByDns) {
  const isNamed = ({ host, hostname }: URL) => named.includes(host) || named.includes(hostname);

  /** Resolves a name. Fails if any of its addresses is private, because the connection could use that one. */
  function lookUpPublic(hostname: string, options: { hints?: number }, looked: Looked): void {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return looked(error, []);
      if (addresses.every(({ address }) => isPublicAddress(address))) return looked(null, addresses);
      looked(Object.assign(new Error("The host leads to a private network."), { code: PRIVATE_ADDRESS }), []);
    });
  }

  return {
    /** Why messages can't go to this endpoint; `undefined` if they can. */
    problemOf(endpoint: string): string | undefined {
      const url = URL.parse(endpoint);
      if (!url || !/^https?:$/.test(url.protocol)) return "must be an https URL";
      if (url.username || url.password) return "must be a URL without a user name and a password";
      if (isNamed(url)) return undefined;
      if (url.protocol !== "https:") return "must be an https URL";
      if (isPrivateHost(url.hostname) || !isPublicIfAddress(url.hostname))
        return "must not lead to a private network, unless the operator names its host in --push-hosts";
      return undefined;
    },

    /** Posts once. Follows no redirect, and uses only the status and Retry-After of the answer. */
    async post({ endpoint, headers, body, signal }: Outgoing): Promise<Posted> {
      const url = new URL(endpoint);
      const soon = AbortSignal.any([AbortSignal.timeout(ANSWER_WITHIN_MS), signal]);
      const options = {
        method: "POST",
        agent: false,
        headers: { ...headers, "Content-Length": body.length },
        signal: soon,
      };
      const found = isNamed(url) ? {} : { lookup: lookUpPublic };
      const { promise, resolve, reject } = Promise.withResolvers<Posted>();
      // Bun's own error for an aborted request does not mention the timeout.
      soon.addEventListener("abort", () => reject(soon.reason), { once: true });
      const request = requestFor(url)(url, { ...options, ...found } as RequestOptions, (response) => {
        resolve(answered(response.statusCode ?? 0, response.headers["retry-after"], GONE));
        response.destroy();
      });
      request.on("error", reject);
      request.end(body);
      return promise.catch(unanswered);
    },
  };
}

function requestFor({ protocol }: URL): typeof requestOverTls {
  return protocol === "https:" ? requestOverTls : requestPlainly;
}

function isPublicIfAddress(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  return isIP(address) === 0 || isPublicAddress(address);
}
