/** No group takes longer, so that the last one to start doesn't keep the others waiting. */
const MAX_SECONDS = 60;
/** The assumed duration of a file that is too quick to be recorded. */
const QUICK_SECONDS = 2;

export type Group = { files: string[]; seconds: number };

/**
 * Decides which test files share a process, because starting one and loading the imports costs more than most test
 * files. The files of a group are in one folder of `tests/`, because they have most imports in common. The slowest groups
 * come first.
 */
export function groupsOf(
  files: string[],
  seconds: Record<string, number>,
  isApart: (file: string) => boolean,
): Group[] {
  const groups: (Group & { folder: string })[] = [];
  for (const file of files) {
    const folder = isApart(file) ? file : (file.split("/").slice(1, -1)[0] ?? "");
    const own = seconds[file] ?? QUICK_SECONDS;
    const group = groups.find((group) => group.folder === folder && group.seconds + own <= MAX_SECONDS);
    if (group === undefined) groups.push({ folder, files: [file], seconds: own });
    else {
      group.files.push(file);
      group.seconds += own;
    }
  }
  return groups.toSorted((a, b) => b.seconds - a.seconds);
}
