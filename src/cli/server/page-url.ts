/** The code stands behind the #, which browsers keep to themselves. */
export function pageUrl(url: string, code: string): string {
  return `${url}/#code=${code}`;
}
