import { firstOf } from "./first-order.ts";

/** A host, or with `isBelow` all hosts below it. */
export type FetchPattern = { domain: string; isBelow: boolean };

const MAX_ADDRESS = 32_768;
const MAX_SCHEME = 32;

/** Parses `domain:docs.rs` or `domain:*.docs.rs`. */
export function readFetchPattern(text: string): FetchPattern | undefined {
  const [, wildcard, domain] = /^domain:(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/.exec(text) ?? [];
  return domain === undefined ? undefined : { domain, isBelow: wildcard !== undefined };
}

/** The same for any host, in any spelling that browsers accept. */
export function readHostName(text: string): FetchPattern | undefined {
  const [, wildcard, name = ""] = /^domain:(\*\.)?([^\s*/:@?#\\%[\]]{1,253})$/.exec(text) ?? [];
  const address = `https://${name}`;
  if (name === "" || !URL.canParse(address)) return undefined;
  return { domain: new URL(address).hostname.replace(/\.$/, ""), isBelow: wildcard !== undefined };
}

/**
 * The host of an unambiguous address: http or https, at the default port, without a user name. `undefined` for any
 * other.
 */
export function plainHost(address: string | undefined): string | undefined {
  if (address === undefined || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(address) || !URL.canParse(address))
    return undefined;
  const { hostname, port, username, password } = new URL(address);
  return port !== "" || username !== "" || password !== "" ? undefined : hostname;
}

export function coversHost({ domain, isBelow }: FetchPattern, host: string): boolean {
  return isBelow ? host.endsWith(`.${domain}`) : host === domain;
}

export type HostFinder = ReturnType<typeof hostFinder>;

/** Finds rules by the host of an address; the rest of the address does not matter. */
export function hostFinder(all: readonly { order: number; host: FetchPattern }[]) {
  const exact = new Map<string, number>();
  const below = new Map<string, number>();
  for (const { order, host } of all) {
    const index = host.isBelow ? below : exact;
    index.set(host.domain, firstOf([index.get(host.domain), order]) ?? order);
  }
  const byName = (host: string | undefined): number | undefined => {
    if (host === undefined) return undefined;
    const found = [exact.get(host)];
    for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1))
      found.push(below.get(host.slice(dot + 1)));
    return firstOf(found);
  };
  return {
    isEmpty: all.length === 0,
    find: (address: string | undefined): number | undefined => firstOf(hostsOf(address).map(byName)),
    byName,
    /** Finds an address anywhere in a word of a command, with or without a scheme, and `user@host:path`. */
    findIn: (word: string): number | undefined =>
      firstOf(addressesIn(word).flatMap((address) => readingsOf(address).map(hostOf).map(byName))),
  };
}

/** All hosts to which an address may lead. */
export function hostsOf(address: string | undefined): string[] {
  return readingsOf(address).flatMap((one) => hostOf(one) ?? []);
}

/** Browsers read a backslash as a slash, other programs as part of the user name. */
function readingsOf(address: string | undefined): (string | undefined)[] {
  return address?.includes("\\") ? [address, address.replaceAll("\\", "%5C")] : [address];
}

function addressesIn(word: string): string[] {
  const pieces = [word, ...word.split(/[\s=,;'"<>()]/)].filter((piece) => piece !== "" && !piece.startsWith("-"));
  return pieces.flatMap((piece) => {
    const slashes = piece.indexOf("://");
    const scheme = piece.slice(Math.max(0, slashes - MAX_SCHEME), Math.max(0, slashes));
    const address = piece.slice(Math.max(0, slashes - (/[a-z][a-z\d+.-]*$/i.exec(scheme)?.[0].length ?? 0)));
    const [, host] = /^(?:[^@/]*@)?([^:/@]+):/.exec(address) ?? [];
    return host === undefined ? [address] : [address, host];
  });
}

/** Adds the scheme if it is missing, as Claude Code does. */
export function hostOf(address: string | undefined): string | undefined {
  if (address === undefined || address.length > MAX_ADDRESS) return undefined;
  const full = [address, `https://${address}`].find((one) => URL.canParse(one) && new URL(one).hostname !== "");
  return full === undefined ? undefined : new URL(full).hostname.replace(/\.+$/, "");
}
