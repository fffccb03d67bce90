import { UsageError } from "../../../config.ts";
import { Name } from "../../../contract/values.ts";

/** A name as an argument carries it. */
export function nameArgument(name: string): string {
  const parsed = Name.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UsageError(`NAME ${JSON.stringify(name)}: ${parsed.error.issues[0]?.message}.`);
}
