/** The code goes behind the #, because browsers do not send that part to the server. */
export function pageUrl(url: string, code: string): string {
  return `${url}/#code=${code}`;
}
