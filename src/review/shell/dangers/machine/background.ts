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
const LOOKS = /^(ls|list|-ls|status|-V|--version|logs|has-session|capture-pane)$/;

/** Goes on when the call is over. */
export const background: Rule = {
  rule: "background",
  test: ({ program, args }) =>
    OUTLIVES.has(program) && !LOOKS.test(args[0]?.value ?? "")
      ? `keeps running after the call (${program})`
      : undefined,
  testWhole: ({ commands }) => {
    const isLeft = commands.some(({ command }) => command.isBackground);
    const isAwaited = commands.some(({ command }) => command.program === "wait" || command.program === "kill");
    return isLeft && !isAwaited ? "keeps running after the call (&)" : undefined;
  },
};
