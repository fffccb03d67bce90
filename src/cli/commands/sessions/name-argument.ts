import { UsageError } from "../../../config.ts";
import { problemsIn } from "../../../contract/arguments/problems.ts";
import { Name } from "../../../contract/values.ts";

/** The name in an argument. */
export function nameArgument(name: string): string {
  const parsed = Name.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${problemsIn(parsed.error, Name, name, "NAME")}.`);
}
