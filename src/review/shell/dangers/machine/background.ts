import type { Rule } from "../rule.ts";

const OUTLIVES = new Set([
  "nohup",
  "setsid",
  "disown",
  "daemonize",
  "tmux",
  "screen",
  "systemd-run",
  "start-stop-daemon",
  "pm2",
]);
const READ_ONLY = /^(ls|list|-ls|status|-V|--version|logs|has-session|capture-pane)$/;

/** Keeps running after the call has ended. */
export const background: Rule = {
  rule: "background",
  test: ({ program, args }) =>
    OUTLIVES.has(program) && !READ_ONLY.test(args[0]?.value ?? "")
      ? `keeps running after the call (${program})`
      : undefined,
  testAll: ({ commands }) => {
    const isLeft = commands.some(({ command }) => command.isBackground);
    const isAwaited = commands.some(({ command }) => command.program === "wait" || command.program === "kill");
    return isLeft && !isAwaited ? "keeps running after the call (&)" : undefined;
  },
};
