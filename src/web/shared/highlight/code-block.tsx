import { useMemo } from "preact/hooks";
import { CopyButton } from "../elements/copy-button.tsx";
import { LongText, SHOWN_WHOLE } from "../elements/long-text.tsx";
import { Scrollable } from "../elements/scrollable.tsx";
import { visibleText } from "../elements/visible.tsx";
import { useHighlight } from "./highlight.ts";
import { Runs } from "./runs.tsx";

/** Highlighted code with a copy button. The language is the first word of `info`. */
export function CodeBlock({ code, info }: { code: string; info: string }) {
  const highlight = useHighlight(info.split(/\s/)[0]?.toLowerCase() ?? "");
  const runs = useMemo(() => highlight(code), [code, highlight]);
  const label = info === "" ? "Code" : `Code, ${visibleText(info)}`;
  return (
    <div class="code-block">
      <div class="code-block-head">
        <span>{visibleText(info)}</span>
        <CopyButton text={code} label="Copy the code" />
      </div>
      {code.length > SHOWN_WHOLE ? (
        <LongText text={code} label={label} />
      ) : (
        <Scrollable class="code-scroll" label={label}>
          <pre class="code">
            <Runs of={runs} />
          </pre>
        </Scrollable>
      )}
    </div>
  );
}
