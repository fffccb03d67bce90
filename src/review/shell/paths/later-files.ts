/** Files that programs run, or read as configuration, by themselves; relative to the working directory. */
const LATER = [
  // Claude Code and other agents
  String.raw`\.claude`,
  String.raw`\.claude/(settings[\w.-]*\.json|hooks|skills|agents|commands|plugins|rules|output-styles)(/.*)?`,
  String.raw`\.claude\.json`,
  String.raw`(CLAUDE|CLAUDE\.local|AGENTS|GEMINI)\.md`,
  String.raw`\.mcp\.json`,
  String.raw`\.cursorrules`,
  String.raw`\.cursor(/(rules|mcp\.json)(/.*)?)?`,
  String.raw`\.github/copilot-instructions\.md`,
  // git and commit hooks
  String.raw`\.git(/.*)?`,
  String.raw`\.(gitconfig|gitmodules)`,
  String.raw`\.config/git(/.*)?`,
  String.raw`\.(husky|githooks|hg)(/.*)?`,
  String.raw`\.?lefthook\.ya?ml`,
  String.raw`\.pre-commit-config\.yaml`,
  // continuous integration
  String.raw`\.(github|gitea|forgejo)(/(workflows|actions)(/.*)?)?`,
  String.raw`\.gitlab-ci\.yml`,
  String.raw`\.(circleci|buildkite|woodpecker|teamcity)(/.*)?`,
  "Jenkinsfile",
  String.raw`\.?(azure-pipelines|bitbucket-pipelines|travis|drone|woodpecker|appveyor|cloudbuild|buildspec)\.ya?ml`,
  // editors and environments
  String.raw`\.vscode(/(tasks|settings|launch)\.json)?`,
  String.raw`\.idea(/.*)?`,
  String.raw`\.devcontainer(/.*)?`,
  String.raw`\.(n?vimrc|exrc|emacs|dir-locals\.el)`,
  String.raw`\.config/nvim(/.*)?`,
  String.raw`\.envrc`,
  String.raw`\.?mise(\.local)?\.toml`,
  String.raw`\.(gdbinit|lldbinit|bazelrc|curlrc|wgetrc|ackrc)`,
  String.raw`(sitecustomize|usercustomize)\.py`,
  // profiles of shells and sessions
  String.raw`\.(bashrc|bash_(profile|login|logout|aliases)|profile|zshrc|zshenv|zprofile|zlogin|zlogout)`,
  String.raw`\.(kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession)`,
  String.raw`\.config/(fish|autostart)(/.*)?`,
  String.raw`/etc/(profile|profile\.d|bash\.bashrc|environment|zsh|ld\.so\.preload|ld\.so\.conf\.d|pam\.d)(/.*)?`,
  // scheduled jobs and services
  String.raw`/etc/(cron[\w.]*|anacrontab|systemd|init\.d|rc\.local|rc\d\.d|sudoers|sudoers\.d)(/.*)?`,
  "/var/spool/(cron|at)(/.*)?",
  "(/usr)?/lib/systemd(/.*)?",
  String.raw`\.config/systemd(/.*)?`,
  "Library/Launch(Agents|Daemons)(/.*)?",
  // sign-in
  String.raw`\.ssh(/.*)?`,
  // package managers
  String.raw`\.(npmrc|yarnrc|yarnrc\.yml|pnpmfile\.cjs|pypirc|gemrc|condarc)`,
  String.raw`bunfig\.toml|pip\.conf|nuget\.config`,
  String.raw`\.(pip|config/pip)(/.*)?`,
  String.raw`\.cargo/config(\.toml)?`,
  String.raw`\.bundle/config`,
  String.raw`\.m2/settings\.xml`,
  String.raw`\.gradle/init(\.gradle|\.d/.*)?`,
];
/** Ignores case, because some file systems treat `.GIT` and `.git` as one; a name may contain a line break. */
const IS_LATER = new RegExp(`(^|/)(${LATER.join("|")})$`, "is");

/** Whether this file runs something later without a decision. */
export function runsLater(path: string): boolean {
  return IS_LATER.test(path);
}
