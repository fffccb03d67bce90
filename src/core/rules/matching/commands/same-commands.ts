/** The words of a command without its options. */
type Words = readonly string[];

/** Each line lists words with the same meaning after the program's name. */
const GROUPS: Readonly<Record<string, string>> = {
  npm: `
    access = access
    audit = audit
    cache = cache
    ci = clean-install = ic = install-clean = isntall-clean
    config = c
    dedupe = ddp
    deprecate = deprecate
    dist-tag = dist-tags
    exec = x
    explain = why
    init = create = innit
    install = i = in = ins = inst = insta = instal = isnt = isnta = isntal = isntall = add
    install-ci-test = cit = clean-install-test = sit
    install-test = it
    link = ln
    login = adduser = add-user
    logout = logout
    ls = list = ll = la
    org = ogr
    owner = author
    pack = pack
    pkg = pkg
    prune = prune
    publish = publish
    rebuild = rb
    restart = run restart
    run = run-script = rum = urn
    search = s = se = find
    set = set
    start = run start
    stop = run stop
    team = team
    test = t = tst = run test
    token = token
    uninstall = un = unlink = remove = rm = r
    unpublish = unpublish
    update = up = upgrade = udpate
    version = verison
    view = v = info = show`,
  pnpm: `
    add = add
    create = init
    install = i
    install-test = it
    link = ln
    ls = list = ll = la
    remove = rm = uninstall = un
    run = run-script
    test = t = tst
    update = up = upgrade`,
  yarn: `
    upgrade = up
    remove = rm`,
  bun: `
    add = a
    create = c
    install = i
    remove = rm`,
  cargo: `
    build = b
    check = c
    doc = d
    remove = rm
    run = r
    test = t`,
  git: `
    add = stage
    blame = annotate
    fetch = fetch-pack
    init = init-db
    log = whatchanged
    push = send-pack = http-push = subtree push
    remote remove = remote rm`,
  docker: `
    build = image build = buildx build = buildx b = builder build
    images = image ls = image list
    ps = container ls = container list = container ps
    rm = container rm = container remove
    rmi = image rm = image remove
    network rm = network remove
    service rm = service remove
    stack deploy = stack up
    stack rm = stack remove = stack down
    volume rm = volume remove
    ${"attach commit cp create exec export kill logs pause rename restart run start stop unpause update"
      .split(" ")
      .map((verb) => `${verb} = container ${verb}`)
      .join("\n")}
    ${"import load pull push save tag"
      .split(" ")
      .map((verb) => `${verb} = image ${verb}`)
      .join("\n")}`,
  brew: `
    list = ls
    uninstall = remove = rm
    update = up`,
  gh: `
    codespace = cs
    extension = extensions = ext
    issue create = issue new
    issue list = issue ls
    pr create = pr new
    pr list = pr ls`,
  helm: `
    list = ls
    uninstall = un = delete = del`,
  svn: `
    checkout = co
    commit = ci
    delete = del = remove = rm
    switch = sw
    update = up`,
};
/** Commands of several words that are equal to another program. */
const PROGRAMS = [
  ["npx", "npm exec", "npm x"],
  ["pnpx", "pnpm dlx"],
  ["bunx", "bun x"],
  ["uvx", "uv tool run"],
  ["pip", "uv pip"],
  ["docker-compose", "docker compose"],
  ["podman-compose", "podman compose"],
].map((group) => group.map((text) => text.split(" ")));
/** Programs that also run a script by its bare name. */
const RUN_BY_NAME = new Set(["pnpm", "yarn", "bun", "turbo", "deno"]);
/** Programs that accept the first letters of a verb, as long as they are unambiguous. */
const ABBREVIATING = new Set(["npm"]);
/** Bounds the lookups for one pattern. */
const MAX_SPELLINGS = 200;

const SAME = new Map(
  Object.entries(GROUPS).map(([program, text]): [string, Words[][]] => [program, groupsOf(program, text)]),
);

/** Other names of a program, and of its drop-in replacements. */
const FAMILIES = new Map(
  Object.entries({
    apt: "apt-get aptitude",
    bat: "batcat",
    dnf: "yum microdnf",
    fd: "fdfind",
    git: "hub",
    gradle: "gradlew",
    jq: "gojq jaq",
    make: "gmake gnumake bmake remake colormake mingw32-make",
    mvn: "mvnw mvnd",
    nc: "ncat netcat nc.openbsd nc.traditional",
    node: "nodejs",
    pytest: "py.test",
    python: "py pythonw",
    sudo: "sudoedit sudo-rs",
    tar: "bsdtar",
    terraform: "tofu terragrunt",
    wget: "wget2",
    yarn: "yarnpkg",
  }).flatMap(([name, others]) => others.split(" ").map((other): [string, string] => [other, name])),
);
/** The GNU versions of programs, installed under other names where the system has its own version. */
const GNU =
  /^g(?=(?:awk|chmod|chown|cp|dd|env|find|grep|install|ln|mkdir|mv|rm|sed|sort|tar|tee|touch|truncate|xargs)$)/;
const VERSIONED = /^(python|pypy|pip|pytest|node|ruby|gem|perl|php|lua|gcc|g\+\+|clang|clang\+\+)-?[\d.]+$/;

/** One name for all names of a program. The argument must be in lower case and without a path. */
export function familyOf(program: string): string {
  const name = program.replace(GNU, "").replace(VERSIONED, "$1");
  return FAMILIES.get(name) ?? name;
}

/** All names of the family. The name of each program in it contains one of these. */
export function namesOf(family: string): string[] {
  return [family, ...[...FAMILIES].flatMap(([name, of]) => (of === family ? [name] : []))];
}

/** All spellings of the same command, starting with the given one. The first word must be the family's name. */
export function spellingsOf(words: Words): Words[] {
  const found = new Map([[words.join("\n"), words]]);
  for (const one of found.values()) {
    for (const other of others(one)) {
      if (found.size >= MAX_SPELLINGS) return [...found.values()];
      const key = other.join("\n");
      if (!found.has(key)) found.set(key, other);
    }
  }
  return [...found.values()];
}

function others([program = "", ...rest]: Words): Words[] {
  const verbs = SAME.get(program === "podman" ? "docker" : program) ?? [];
  const [first = "", second] = rest;
  return [
    ...replaced(verbs, rest).map((one) => [program, ...one]),
    ...replaced(PROGRAMS, [program, ...rest]),
    ...(RUN_BY_NAME.has(program) && first === "run" && second !== undefined ? [[program, ...rest.slice(1)]] : []),
    ...(RUN_BY_NAME.has(program) && first !== "run" && first !== "" ? [[program, "run", ...rest]] : []),
  ];
}

/** Replaces the words at the front by each of their synonyms. */
function replaced(groups: readonly (readonly Words[])[], words: Words): Words[] {
  return groups.flatMap((group) => {
    const front = group.find((one) => one.every((word, at) => word === words[at]));
    if (!front) return [];
    return group.filter((one) => one !== front).map((one) => [...one, ...words.slice(front.length)]);
  });
}

function groupsOf(program: string, text: string): Words[][] {
  const groups = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => [...new Set(line.split("=").map((one) => one.trim()))].map((one) => one.split(" ")));
  if (!ABBREVIATING.has(program)) return groups;
  const shortened = groups.map((group) => [
    ...new Set(group.flatMap((one) => (one.length === 1 ? abbreviations(one[0] ?? "") : []))),
  ]);
  const names = groups.flatMap((group) => group.map(([first = ""]) => first));
  const isTaken = (one: string) => names.includes(one) || shortened.filter((all) => all.includes(one)).length > 1;
  return groups.map((group, at) => [
    ...group,
    ...(shortened[at] ?? []).filter((one) => !isTaken(one)).map((one) => [one]),
  ]);
}

/** The prefixes of a name from two letters on, and the name in camel case. */
function abbreviations(name: string): string[] {
  const shorter = Array.from({ length: Math.max(0, name.length - 2) }, (_, at) => name.slice(0, at + 2));
  const joined = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return joined === name ? shorter : [...shorter, joined];
}
