import type { JsonObject } from "../../../contract/values.ts";
import { Visible } from "../elements/visible.tsx";

/** The arguments of a call besides its main part, by name. */
export function Fields({ of, label }: { of: JsonObject; label: string }) {
  const fields = Object.entries(of);
  if (fields.length === 0) return null;
  return (
    <dl class="fields" aria-label={label}>
      {fields.map(([key, value]) => (
        <div key={key}>
          <dt>
            <Visible text={key} />
          </dt>
          <dd>
            <Visible text={typeof value === "string" ? value : JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
