import { pathOutside } from "../../claude/launch/program-path.ts";
import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Session, Sessions } from "../sessions/sessions.ts";
import { dangersIn } from "./call-dangers.ts";
import { createDecisionRules } from "./decision-rules.ts";
import { createGrants } from "./grants.ts";
import { createRuleHistory } from "./history/history.ts";
import { openOutliner } from "./history/outliner.ts";
import { createOutlines } from "./history/outlines.ts";
import { createPastCalls } from "./history/past-calls.ts";
import { createJudge } from "./judge.ts";
import { createPendingReview } from "./pending-review.ts";
import { createRuleBook } from "./rule-book.ts";
import { createRules } from "./rules.ts";
import { openRulesFile } from "./rules-file.ts";
import { createSuggestions } from "./suggestions.ts";

type RulebookNeed = {
  storage: Storage;
  sessions: Sessions;
  now: () => number;
  /** The operator's rules file, if there is one. */
  rulesFile: string | undefined;
  /** The directory in which the examples of that file are tried. */
  startedIn: string;
  privatePaths: string[];
  home: string;
  path: string;
  onFileRead: (status: RulesFileStatus) => void;
  onError: (cause: unknown) => void;
};

export type Rulebook = ReturnType<typeof openRulebook>;

/** Wires together everything about standing decisions. */
export function openRulebook(need: RulebookNeed) {
  const { storage, sessions, now, rulesFile, startedIn, privatePaths, home, path, onError } = need;
  // The PATH of a child in this directory: if npm started the server, the PATH contains programs of the directory.
  const place = { workingDir: startedIn, addDirs: [], privatePaths, home, path: pathOutside([startedIn], path) };
  const file = openRulesFile({
    path: rulesFile,
    place,
    hasDangers: dangersIn(startedIn),
    onRead: need.onFileRead,
  });
  const dangersOf = (session: Session) => dangersIn(session.config?.working_dir ?? null);
  const book = createRuleBook({ storage, file, now, dangersIn: dangersOf });
  const grants = createGrants({ storage, dangersIn: dangersOf });
  const judge = createJudge({ book, grants, dangersIn: dangersOf, privatePaths, home, path });
  const suggestions = createSuggestions({ book, judge, dangersIn: dangersOf });
  const reviewPending = createPendingReview({ storage, sessions, judge, now, onStale: book.forget });
  const rules = createRules({ storage, book, file, sessions, now, onChanged: reviewPending });
  const outlines = createOutlines({ placeOf: judge.placeOf, dangersIn: dangersOf });
  const past = createPastCalls({ storage, sessions, onError });
  // Read the file at start, to report a mistake in it immediately.
  let fileVersion = file.current().version;
  return {
    rules,
    history: createRuleHistory({ past, sessions, judge, suggestions, outlines }),
    outliner: openOutliner({ past, outlines, onError }),
    decisionRules: createDecisionRules({ sessions, judge, grants, rules, suggestions, dangersIn: dangersOf }),
    judge: judge.judge,
    onStale: book.forget,
    /** Picks up changes by other servers or by an editor. */
    async reread(): Promise<void> {
      const before = fileVersion;
      fileVersion = file.current().version;
      if (fileVersion !== before || (await book.isOutdated())) await rules.changed();
    },
  };
}
