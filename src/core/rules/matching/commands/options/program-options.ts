import { READING_PROGRAMS } from "../../../builtin/programs.ts";
import { familyOf } from "../same-commands.ts";

/** Programs none of whose options runs another program. LIMITS restricts the options that name a file. */
export const ANY_OPTIONS: ReadonlySet<string> = new Set([
  ...READING_PROGRAMS.filter((name) => name !== "sort" && name !== "file"),
  ..."printf test which type tree mkdir rmdir touch tee cp mv ln rm chmod chown chgrp sleep seq ps df kill".split(" "),
]);

/** Programs that load neither code nor settings from the files that their words name. */
const DATA_ONLY: ReadonlySet<string> = new Set([
  ...ANY_OPTIONS,
  ..."git gh rg ag ack grep egrep fgrep zgrep tar zip unzip gzip gunzip curl wget diff diff3 cmp sort file jq yq uniq xxd od strings hexdump bat install split shellcheck".split(
    " ",
  ),
]);

export function takesOnlyData(program: string): boolean {
  return DATA_ONLY.has(familyOf(program));
}

const SCRIPTS =
  "-s -q -w: -D -E -P -O -r -a -l -B --silent --quiet --loglevel --if-present --workspace --workspaces --ws --include-workspace-root " +
  "--no-color --color --dry-run --save-dev --save-exact --save-prod --save-optional --save-peer --save --no-save --production --prod " +
  "--dev --omit --include --no-audit --no-fund --audit --fund --prefer-offline --offline --prefer-dedupe --ignore-scripts " +
  "--legacy-peer-deps --strict-peer-deps --json --depth --all --long --parseable --progress --no-progress --frozen-lockfile " +
  "--immutable --recursive --filter --parallel --stream --aggregate-output --sequential --foreground-scripts --package-lock-only " +
  "--no-package-lock --audit-level --no-optional --check-files --non-interactive --pure-lockfile";
const GREP =
  "-# -i -v -w -x -c -l -L -n -o -q -s -h -H -r -E -F -G -P -a -I -b -z -Z -T -U -e: -A: -B: -C: -m: --recursive --ignore-case --line-number " +
  "--invert-match --word-regexp --line-regexp --files-with-matches --files-without-match --count --no-filename --with-filename " +
  "--only-matching --quiet --silent --no-messages --extended-regexp --fixed-strings --basic-regexp --perl-regexp --color --colour " +
  "--max-count --context --after-context --before-context --include --exclude --exclude-dir --regexp --text --null --initial-tab";
const JEST =
  "-t: -i -u -b -w: --testNamePattern --runInBand --coverage --no-coverage --ci --bail --verbose --silent --passWithNoTests --watch " +
  "--watchAll --findRelatedTests --onlyChanged --maxWorkers --testPathPattern --testPathPatterns --detectOpenHandles --forceExit " +
  "--no-cache --updateSnapshot --update --listTests --color --json --expand --randomize --shard --testTimeout --selectProjects " +
  "--changedSince --run --retry --no-threads --allowOnly --hideSkippedTests --typecheck";

/**
 * By program, the options that neither run a program nor name a file to write. `-m:` takes a value, `-#` is a number.
 */
export const PROGRAM_OPTIONS: Readonly<Record<string, string>> = {
  npm: SCRIPTS,
  pnpm: SCRIPTS,
  yarn: SCRIPTS,
  cargo:
    "-q -v -p: -j: -F: -r -e: -i: -d --quiet --verbose --package --workspace --all --exclude --lib --bin --bins --example --examples --test " +
    "--tests --bench --benches --all-targets --doc --no-run --no-fail-fast --release --profile --features --all-features " +
    "--no-default-features --target --locked --offline --frozen --jobs --keep-going --message-format --color --ignore-rust-version " +
    "--timings --no-deps --document-private-items --check --depth --edges --invert --prefix --duplicates",
  go:
    "--v --race --count --run --bench --benchtime --benchmem --short --timeout --cover --covermode --coverpkg --parallel --p --cpu --failfast " +
    "--json --list --skip --shuffle --fullpath --x --n --a --trimpath --tags --m --u --e --f --deps --test --find",
  make:
    "-# -j: -k -s -n -B -q -w -r -R -S -O: -l: --jobs --keep-going --silent --quiet --just-print --always-make --question " +
    "--print-directory --no-print-directory --output-sync --load-average --warn-undefined-variables --trace",
  ninja: "-j: -k: -v -n -l: --quiet --verbose",
  just: "-l -n -q -v -s: --list --dry-run --quiet --verbose --show --summary --color --yes --variables --groups",
  gradle:
    "-q -i -s -S -m -w -d -x: --quiet --info --stacktrace --full-stacktrace --dry-run --exclude-task --tests --offline --continue --parallel " +
    "--no-parallel --no-daemon --daemon --console --warning-mode --rerun-tasks --build-cache --no-build-cache --configuration-cache " +
    "--max-workers --refresh-dependencies --warn --debug --configure-on-demand",
  mvn:
    "-q -B -X -e -o -U -N -T: -am -amd -pl -ntp --quiet --batch-mode --debug --errors --offline --update-snapshots --non-recursive --threads " +
    "--also-make --also-make-dependents --projects --no-transfer-progress --fail-at-end --fail-never --fail-fast " +
    "-DskipTests -DskipITs -Dtest -Dit.test -DfailIfNoTests",
  tar:
    "-c -x -t -r -u -z -j -J -v -f: -C: -k -p -m -O -a --create --extract --get --list --append --update --gzip --bzip2 --xz --zstd --verbose " +
    "--file --directory --keep-old-files --strip-components --exclude --exclude-vcs --wildcards --to-stdout --auto-compress --totals " +
    "--sort --mtime --owner --group --numeric-owner --no-same-owner --no-same-permissions --one-file-system",
  sort:
    "-# -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k: -t: -S: --reverse --unique --numeric-sort --human-numeric-sort --version-sort " +
    "--general-numeric-sort --ignore-case --stable --key --field-separator --check --merge --month-sort --random-sort " +
    "--ignore-leading-blanks --dictionary-order --zero-terminated --parallel --buffer-size --debug",
  file: "-b -i -h -k -r -s -z -0 --brief --mime --mime-type --mime-encoding",
  rg:
    "-# -i -s -S -w -x -v -c -l -n -N -o -a -F -P -U -H -I -0 -p -q -u -. -h -b -A: -B: -C: -m: -e: -g: -t: -T: -M: -j: -r: -d: -E: --ignore-case " +
    "--smart-case --case-sensitive --word-regexp --line-regexp --invert-match --count --count-matches --files-with-matches " +
    "--files-without-match --files --line-number --no-line-number --only-matching --text --fixed-strings --pcre2 --multiline " +
    "--multiline-dotall --with-filename --no-filename --heading --no-heading --pretty --quiet --unrestricted --hidden --no-ignore " +
    "--no-ignore-vcs --no-ignore-parent --after-context --before-context --context --max-count --regexp --glob --iglob --type " +
    "--type-not --type-list --max-columns --max-depth --max-filesize --threads --replace --sort --sortr --stats --trim --json " +
    "--vimgrep --color --colors --column --no-column --no-messages --encoding --engine --passthru --null --no-config " +
    "--one-file-system --stop-on-nonmatch --no-require-git --byte-offset",
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  pytest:
    "-v -q -s -x -l -k: -m: -n: -r: --verbose --quiet --maxfail --lf --last-failed --ff --failed-first --nf --sw --stepwise --tb --durations " +
    "--durations-min --collect-only --co --no-header --no-summary --capture --showlocals --cov --no-cov --color --strict-markers " +
    "--disable-warnings --exitfirst --runxfail --timeout --numprocesses --dist --reruns --markers --fixtures --import-mode --deselect " +
    "--ignore --ignore-glob",
  ctest:
    "-V -VV -N -Q -F -j: -R: -E: -L: -I: -C: -LE --verbose --extra-verbose --output-on-failure --parallel --test-dir --rerun-failed " +
    "--stop-on-failure --timeout --repeat --progress --quiet --show-only --schedule-random --no-tests --build-config --tests-regex " +
    "--exclude-regex --label-regex --label-exclude --test-load",
  jest: JEST,
  vitest: JEST,
  mocha:
    "-g: -f: -b -i -t: --grep --fgrep --bail --timeout --recursive --exit --invert --parallel --forbid-only --color --dry-run",
  eslint:
    "--fix --fix-dry-run --ext --quiet --max-warnings --cache --ignore-pattern --no-ignore --color --no-color " +
    "--report-unused-disable-directives --no-error-on-unmatched-pattern --stats",
  prettier:
    "-c -w -l -u --check --write --list-different --ignore-unknown --log-level --no-color --no-config --cache --no-error-on-unmatched-pattern",
  tsc: "-b -w -p: --noEmit --project --pretty --strict --skipLibCheck --incremental --listFiles --build --force --dry --verbose --watch",
  pip:
    "-U -q -v -I -e -l -o -y -h -V --upgrade --quiet --verbose --ignore-installed --no-deps --user --pre --no-cache-dir --force-reinstall " +
    "--no-input --disable-pip-version-check --no-color --upgrade-strategy --only-binary --no-binary --prefer-binary --require-hashes " +
    "--no-warn-script-location --break-system-packages --no-compile --outdated --uptodate --format --local --not-required --all " +
    "--exclude --yes --progress-bar --retries --timeout --no-build-isolation --use-pep517 --files",
  ruff:
    "-q -v --fix --diff --check --select --ignore --quiet --show-fixes --statistics --no-cache --line-length --exclude --extend-select " +
    "--preview --exit-zero --output-format --watch",
  mypy:
    "-p: -m: --strict --ignore-missing-imports --no-incremental --pretty --show-error-codes --package --module --exclude --no-error-summary " +
    "--follow-imports --python-version --check-untyped-defs",
  black:
    "-q -v -l: -S -t: --check --diff --quiet --verbose --line-length --exclude --include --fast --safe --skip-string-normalization --preview " +
    "--target-version --color --no-color",
  jq:
    "-r -c -n -e -s -S -a -j -M -C -R --raw-output --compact-output --null-input --exit-status --slurp --sort-keys --ascii-output --join-output " +
    "--monochrome-output --color-output --raw-input --arg --argjson --args --jsonargs --tab --indent --stream --seq",
  gh:
    "-q: -t: -L: -s: -R: -A: -a: -l: -S: -B: -H: -b: -d -f -c -j: -i: -e: -u: --json --jq --template --limit --state --repo --author --assignee " +
    "--label --search --base --head --title --body --draft --fill --comments --log --log-failed --job --watch --exit-status --interval " +
    "--patch --name-only --color --branch --event --user --workflow --status",
  curl:
    "-s -S -f -L -I -i -v -G -A: -m: -r: -4 -6 --silent --show-error --fail --location --head --include --verbose --max-time --connect-timeout " +
    "--retry --retry-delay --compressed --http1.1 --http2 --user-agent --get --url --range --no-progress-meter --ipv4 --ipv6 --max-redirs",
  wget: "-q -S -T: -t: --quiet --no-verbose --spider --timeout --tries",
  unzip: "-l -v -t -q -o -n -j -p -C -d: -x:",
  zip: "-# -q -v -j -u -x: --quiet --verbose",
  diff3: "-A -e -E -m -T -x -X -3 -a -i -L: --merge --text --show-all --label --strip-trailing-cr",
  install:
    "-d -D -m: -v -p -c -C -t: -T --directory --mode --verbose --compare --preserve-timestamps --target-directory",
  split: "-l: -b: -n: -d -a: --lines --bytes --number --numeric-suffixes",
  patch: "-p: -i: -N -R -s -f -t --dry-run --forward --reverse --silent --strip --input",
  gzip: "-# -d -k -c -v -q -t -l -f --decompress --keep --stdout --verbose --quiet --test --list --force",
};
