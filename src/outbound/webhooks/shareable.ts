import { isPrivateHost } from "../../contract/url.ts";

/** Whether the address works for everyone. Some services refuse a button with any other. */
export function isShareable(url: string): boolean {
  return !isPrivateHost(new URL(url).hostname);
}
