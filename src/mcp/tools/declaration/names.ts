/** The tool with which children ask for permission. */
export const PERMIT = "loopback_permit";

/** Clients and model APIs rewrite dots: both spellings name the same tool. */
export function canonicalName(name: string): string {
  return name.replaceAll(".", "_");
}
