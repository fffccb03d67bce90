/** Options of git's verbs that neither run a program nor name a file: `-m:` takes a value, `-#` is a number. */

/** Options of diff and log that print the contents of files. */
const PATCH =
  "-p -u -U: -W -S: -G: --patch --color-words --word-diff --word-diff-regex --unified --function-context --binary --check --exit-code " +
  "--submodule --ws-error-highlight";
const DIFF =
  `${PATCH} -s -w -b -B: -M: -C: -R -a -z --no-patch --raw --stat --numstat --shortstat --dirstat --summary ` +
  "--name-only --name-status --color --no-color --color-moved --minimal --patience --histogram --diff-algorithm " +
  "--ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --inter-hunk-context " +
  "--find-renames --find-copies --diff-filter --pickaxe-all --pickaxe-regex --abbrev --full-index --text --quiet --cached --staged " +
  "--merge-base --no-ext-diff --no-textconv --no-renames --relative --no-prefix --src-prefix --dst-prefix --compact-summary " +
  "--stat-width --stat-count --graph";
const LOG_PATCH = "-c -m -L: --full-diff";
const LOG =
  `${DIFF} ${LOG_PATCH} -# -n: -i -E -F -P -g --oneline --format --pretty --decorate --no-decorate --all --branches --tags --remotes --not ` +
  "--max-count --skip --since --after --until --before --author --committer --grep --all-match --invert-grep --regexp-ignore-case " +
  "--extended-regexp --fixed-strings --merges --no-merges --first-parent --reverse --topo-order --date-order --author-date-order " +
  "--date --relative-date --follow --abbrev-commit --no-abbrev-commit --left-right --cherry --cherry-pick --cherry-mark " +
  "--walk-reflogs --boundary --simplify-by-decoration --full-history --ancestry-path --source --no-walk --parents --children " +
  "--count --left-only --right-only --glob --exclude --notes --no-notes --decorate-refs";
const FETCH =
  "-p -q -v -t -a -n -j: -4 -6 --all --prune --prune-tags --tags --no-tags --quiet --verbose --depth --deepen --unshallow --dry-run " +
  "--jobs --progress --no-progress --atomic --append --multiple --shallow-since --porcelain --keep --no-recurse-submodules";
const MERGE =
  "-n -q -v -m: -X: --no-ff --ff --ff-only --squash --no-commit --commit --no-edit --message --abort --continue --quit --stat --no-stat " +
  "--log --no-log --quiet --verbose --signoff --autostash --no-autostash --allow-unrelated-histories --strategy-option";
const PICK =
  "-n -x -s -m: -X: --no-commit --no-edit --abort --continue --skip --quit --mainline --signoff --allow-empty --strategy-option";
const GREP =
  "-# -a -I -i -w -v -h -H -E -G -P -F -n -l -L -z -c -o -p -W -q -e: -A: -B: -C: -m: --text --ignore-case --word-regexp --invert-match " +
  "--full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only " +
  "--files-without-match --count --color --no-color --break --heading --show-function --context --after-context --before-context " +
  "--function-context --and --or --not --all-match --quiet --cached --untracked --no-exclude-standard --exclude-standard --max-depth " +
  "--only-matching --max-count --threads";

export const GIT_OPTIONS: Readonly<Record<string, string>> = {
  add: "-v -n -u -A -N -p --verbose --dry-run --all --update --patch --intent-to-add --no-all --renormalize --refresh --ignore-errors --chmod",
  blame:
    "-L: -w -M: -C: -e -l -t -s -f -n -c -b -p --line-porcelain --porcelain --incremental --since --date --abbrev --color-lines --show-name --show-number --show-email --root --reverse --first-parent --ignore-rev",
  branch:
    "-a -r -v -l -q -t -m -c -d -i -u: --all --remotes --verbose --list --show-current --contains --no-contains --merged --no-merged --sort --points-at --format --color --no-color --column --no-column --abbrev --track --no-track --quiet --move --copy --delete --set-upstream-to --unset-upstream --ignore-case",
  "cat-file": "-t -s -e -p --batch --batch-check --batch-all-objects --unordered --buffer",
  checkout: "-b: -t -q -d -m --track --no-track --quiet --detach --guess --no-guess --orphan --ours --theirs --merge",
  "cherry-pick": PICK,
  commit:
    "-a -m: -s -v -q -i -o -C: --all --message --signoff --verbose --quiet --amend --no-edit --allow-empty --allow-empty-message --author --date --fixup --squash --dry-run --short --branch --only --include --reset-author --reuse-message --cleanup --trailer --no-status",
  "count-objects": "-v -H --verbose --human-readable",
  describe:
    "--tags --all --contains --abbrev --candidates --exact-match --long --match --exclude --always --first-parent --dirty --broken",
  diff: DIFF,
  fetch: FETCH,
  "for-each-ref":
    "--count --sort --format --color --points-at --merged --no-merged --contains --no-contains --ignore-case",
  grep: GREP,
  log: LOG,
  "ls-files":
    "-c -d -m -o -i -s -u -k -t -v -z -f -x: --cached --deleted --modified --others --ignored --stage --unmerged --exclude --exclude-standard --error-unmatch --full-name --abbrev --eol --deduplicate --directory --format",
  "ls-tree": "-d -r -t -l -z --name-only --name-status --object-only --long --full-name --full-tree --abbrev --format",
  merge: MERGE,
  "merge-base": "-a --all --octopus --independent --is-ancestor --fork-point",
  mv: "-v -k -n --verbose --dry-run",
  "name-rev": "--tags --refs --all --name-only --always --exclude --no-undefined",
  pull: `${FETCH} ${MERGE} -r --rebase --no-rebase`,
  push: "-u -q -v -n -4 -6 --set-upstream --quiet --verbose --dry-run --tags --follow-tags --no-follow-tags --progress --no-progress --porcelain --atomic --no-atomic --all --branches",
  "range-diff": DIFF,
  reflog: LOG,
  remote: "-v --verbose",
  reset: "-q -N --soft --mixed --keep --quiet --no-refresh",
  restore: "-s: -S -W -q --source --staged --worktree --quiet --ours --theirs",
  "rev-list": LOG,
  "rev-parse":
    "-q --short --abbrev-ref --verify --quiet --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-inside-git-dir --is-bare-repository --symbolic --symbolic-full-name --all --branches --tags --remotes --since --until",
  revert: PICK,
  rm: "-r -q -n --cached --dry-run --quiet --ignore-unmatch",
  shortlog: `${LOG} -s -n -e -w: --summary --numbered --email --group`,
  show: LOG,
  "show-ref": "-d -s -q --head --heads --tags --branches --hash --abbrev --quiet --verify --exists",
  stash: "-u -q -k -S -m: --include-untracked --quiet --message --keep-index --no-keep-index --index --staged",
  status:
    "-s -b -u: -v -z --short --branch --porcelain --long --verbose --untracked-files --ignored --ignore-submodules --show-stash --ahead-behind --no-ahead-behind --renames --no-renames --find-renames --column --no-column",
  switch: "-c: -d -t -q -m --create --detach --track --no-track --quiet --guess --no-guess --merge --orphan",
  tag: "-l -n: -a -m: -i --list --sort --contains --no-contains --merged --points-at --format --annotate --message --column --ignore-case",
};

/** Options that make diff, show and log print the contents of files; no other option does. */
export const GIT_PATCHES = `${PATCH} ${LOG_PATCH}`;
/** With one of these options, diff and show print the names of files instead of their contents. */
export const GIT_NAMES =
  "-s --no-patch --raw --stat --numstat --shortstat --dirstat --summary --compact-summary --name-only --name-status --quiet";
/** Options of diff, show and log that take the next word as their value, unless the value is in the same word. */
export const GIT_VALUED =
  "-n -S -G --max-count --skip --since --after --until --before --author --committer --grep --date --glob --exclude --decorate-refs " +
  "--diff-filter --word-diff-regex --diff-algorithm --inter-hunk-context --src-prefix --dst-prefix --ws-error-highlight " +
  "--stat-width --stat-count";
