import { BRAKE_MEANING, decidedBy, decidedByWords } from "../../../client/words/decided-by.ts";
import { linkTo } from "../route.ts";

/** Who decided: a rule with a link to it, anyone else by name. */
export function DecidedByView({ by: resolvedBy, isLong = false }: { by: string; isLong?: boolean }) {
  const by = decidedBy(resolvedBy);
  const words = decidedByWords(by);
  switch (by.kind) {
    case "rule":
    case "builtin":
      return <a href={linkTo.rule(by.id)}>{words}</a>;
    case "brake":
      return (
        <b title={BRAKE_MEANING}>
          {words}
          {isLong && ` (${BRAKE_MEANING})`}
        </b>
      );
    case "somebody":
      return <b>{words}</b>;
  }
}
