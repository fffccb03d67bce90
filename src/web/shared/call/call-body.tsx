import type { Approval } from "../../../contract/approvals/approval.ts";
import type { ApprovalContext } from "../../../contract/approvals/approval-context.ts";
import { diffOfEdits, diffOfWrite } from "../../../review/diff.ts";
import { INPUT_REMOVED, kindOf } from "../../../review/kinds.ts";
import { LongText } from "../elements/long-text.tsx";
import { Visible } from "../elements/visible.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { CommandText } from "./command.tsx";
import { DiffView } from "./diff-view.tsx";
import { Fields } from "./fields.tsx";
import { OtherCall } from "./other-call.tsx";
import { type Answering, Questions } from "./questions.tsx";

type Props = {
  approval: Pick<Approval, "tool_name" | "input" | "input_removed_at">;
  context: ApprovalContext | undefined;
  answering?: Answering | undefined;
};

/** The call in a form that suits its kind. */
export function CallBody({ approval, context, answering }: Props) {
  const kind = kindOf(approval);
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
          <CommandText command={kind.command} context={context} />
          <Fields of={kind.further} label="How it runs" />
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
      return <Questions questions={kind.questions} answering={answering} />;
    case "plan":
      return (
        <>
          {context?.plan && (
            <section class="plan" aria-label="Plan">
              <Markdown text={context.plan} label="Plan" />
            </section>
          )}
          <Fields of={approval.input} label="Input" />
        </>
      );
    case "skill":
      return (
        <>
          <Fields of={{ skill: kind.name, ...kind.further }} label="Input" />
          {context?.skill && (
            <>
              <p class="note">
                <code class="path">
                  <Visible text={context.skill.path} />
                </code>
              </p>
              <LongText text={context.skill.text} label="Skill" />
            </>
          )}
        </>
      );
    case "removed":
      return <p class="note">{INPUT_REMOVED}</p>;
    case "other":
      return <OtherCall name={approval.tool_name} input={approval.input} />;
  }
}

/** An address with its host emphasized. It is no link, so that no one follows it by mistake. */
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
