import { Command } from "commander";
import { type Flags, readConfig, type Setting } from "../../../config.ts";
import { type Finding, findingText } from "../../doctor/finding.ts";
import { withSettings } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";

const SETTINGS: Setting[] = ["host", "port", "dataDir", "claude", "rules", "url"];
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const HELP = `
It starts your claude once, in a directory of its own, on a server of its own and with a model that is built in: no key
is needed, nothing is paid, and nothing of yours is changed. It also looks whether your settings of Claude Code would
silence Plexus, and whether your server answers, if one runs.`;

type Options = Flags & { json?: true };

export function doctorCommand(terminal: Terminal): Command {
  const command = new Command("doctor").description(
    "prove that everything works on this machine, and say what does not",
  );
  return withSettings(command, SETTINGS)
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async ({ json, ...flags }: Options) => {
      const config = readConfig(flags);
      using stop = stopOnSignals();
      const findings: Finding[] = [];
      const { examine } = await import("../../doctor/examination.ts");
      for await (const finding of examine(config, stop.signal)) {
        findings.push(finding);
        if (!json) terminal.out(findingText(finding, terminal));
      }
      const failed = findings.filter(({ state }) => state === "failed").length;
      if (json) terminal.out(jsonText({ type: "ok", healthy: failed === 0, findings }, terminal));
      if (stop.signal.aborted) throw new CommandFailed("Stopped before the end.");
      if (failed > 0)
        throw new CommandFailed(failed === 1 ? "One thing does not work." : `${failed} things do not work.`);
      if (!json) terminal.out("Everything works.\n");
    });
}

/** Turns signals into an abort, so that a stopped examination leaves no child and no server behind. */
function stopOnSignals(): Disposable & { signal: AbortSignal } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const name of STOP_SIGNALS) process.on(name, abort);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const name of STOP_SIGNALS) process.off(name, abort);
    },
  };
}
