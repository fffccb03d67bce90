import { diffOfEdits, diffOfWrite } from "../../judging/diff.ts";
import { kindOf } from "../../judging/kinds.ts";
import type { Approval } from "../../schema/approval.ts";
import type { ApprovalContext } from "../../schema/approval-context.ts";
import type { JsonObject } from "../../schema/values.ts";
import { LongText } from "../text/long-text.tsx";
import { Visible } from "../text/visible.tsx";
import { CommandText } from "./command.tsx";
import { DiffView } from "./diff-view.tsx";
import { Questions } from "./questions.tsx";

type Props = {
  approval: Pick<Approval, "tool_name" | "input">;
  context: ApprovalContext | undefined;
  onAnswer?: ((input: JsonObject) => void) | undefined;
};

/** What a call would do, shown as what it is. */
export function CardBody({ approval, context, onAnswer }: Props) {
  const kind = kindOf(approval);
  const workingDir = context?.working_dir ?? null;
  const file = context?.file;
  switch (kind.kind) {
    case "command":
      return (
        <>
          {kind.description && (
            <p class="description">
              <Visible text={kind.description} />
            </p>
          )}
          <CommandText command={kind.command} workingDir={workingDir} />
        </>
      );
    case "write":
      return <DiffView path={kind.path} diff={diffOfWrite(kind.content, file)} />;
    case "edit":
      return <DiffView path={kind.path} diff={diffOfEdits(kind.edits, file)} />;
    case "fetch":
      return (
        <>
          <Address url={kind.url} />
          {kind.prompt && <LongText text={kind.prompt} label="What it is to find there" />}
        </>
      );
    case "questions":
      return <Questions questions={kind.questions} input={approval.input} onAnswer={onAnswer} />;
    case "other":
      return <LongText text={JSON.stringify(approval.input, null, 2)} label="Input" />;
  }
}

/** An address with the part that says whom it belongs to told apart; no link, since nobody should follow it by mistake. */
function Address({ url }: { url: string }) {
  const host = URL.parse(url)?.host ?? "";
  const at = host === "" ? -1 : url.toLowerCase().indexOf(host.toLowerCase());
  if (at < 0) return <LongText text={url} label="Address" />;
  return (
    <pre class="code address">
      <Visible text={url.slice(0, at)} />
      <b>
        <Visible text={url.slice(at, at + host.length)} />
      </b>
      <Visible text={url.slice(at + host.length)} />
    </pre>
  );
}
