/** Host names of this machine or its own network. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|lan|intranet|home\.arpa)$/;
const PRIVATE_V4 =
  /^(0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
const PRIVATE_V6 = /^(::1?$|f[cd]|fe[89ab]|::ffff:)/;
/** A longer query is not typed by a person. */
const MAX_QUERY_CHARS = 500;
/** Parsing a longer one is slow if it has letters outside ASCII. */
const MAX_ADDRESS_CHARS = 8_192;

/** Returns the dangers of fetching a URL, as verb phrases that follow "it". */
export function fetchDangers(address: string): string[] {
  if (address.length > MAX_ADDRESS_CHARS) return [`fetches a URL of ${address.length} characters`];
  if (!URL.canParse(address)) return [`fetches an invalid URL (${address})`];
  const url = new URL(address);
  const found: string[] = [];
  if (url.protocol !== "https:") found.push(`fetches without encryption (${url.protocol.slice(0, -1)})`);
  if (isPrivate(url.hostname)) found.push(`fetches from this machine or its network (${url.host})`);
  if (url.username !== "" || url.password !== "") found.push("sends a user name or password in the URL");
  if (url.search.length + url.hash.length > MAX_QUERY_CHARS) found.push(`sends a lot of data in the URL (${url.host})`);
  return found;
}

function isPrivate(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return PRIVATE_V6.test(name.slice(1, -1));
  return PRIVATE_NAME.test(name) || PRIVATE_V4.test(name) || !name.includes(".");
}
