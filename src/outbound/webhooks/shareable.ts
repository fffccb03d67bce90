import { isPrivateHost } from "../../contract/url.ts";

/** Whether an address means the same to everybody; some services refuse a button with any other. */
export function isShareable(url: string): boolean {
  return !isPrivateHost(new URL(url).hostname);
}
