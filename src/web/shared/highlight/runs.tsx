import { Visible } from "../elements/visible.tsx";
import type { Run } from "./highlight.ts";

/** Coloured code, as text. */
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
