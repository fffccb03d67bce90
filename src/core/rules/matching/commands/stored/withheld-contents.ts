import { startIn } from "../../../../../review/shell/index.ts";
import type { WithheldFiles } from "../../../withheld-files.ts";
import type { JudgedCall } from "../../judged-call.ts";
import { once } from "../../once.ts";
import { readingsOf } from "../readings.ts";
import { printsWithheld, repositoryAround } from "./git-contents.ts";

/** Whether a command of the call prints present or past contents of files, and some of these files may be withheld. */
export function mayPrintWithheld({ place, started }: JudgedCall, withheld: WithheldFiles): boolean {
  const start = startIn(place.workingDir ?? null).at;
  const here = { start, withheld, repository: once(() => repositoryAround(start)) };
  return started().commands.some(({ command, directory }) =>
    readingsOf(command).some((one) => printsWithheld(one, { ...here, isAtStart: directory.at === start })),
  );
}
