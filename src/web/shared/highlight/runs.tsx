import { Visible } from "../elements/visible.tsx";
import type { Run } from "./highlight.ts";

/** Highlighted code as elements. */
export function Runs({ of }: { of: Run[] }) {
  return (
    <>
      {of.map(({ text, name }) =>
        name === "" ? (
          <Visible text={text} />
        ) : (
          <span class={name}>
            <Visible text={text} />
          </span>
        ),
      )}
    </>
  );
}
