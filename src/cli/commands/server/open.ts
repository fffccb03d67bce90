import type { Command } from "commander";
import { type Config, type Flags, readConfig } from "../../../config.ts";
import { createCode } from "../../../contract/routes/sign-in.ts";
import { pageUrl } from "../../server/page-url.ts";
import { openApi, reachServer } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";

type Options = Flags & { print?: true; json?: true };

export function openCommand(terminal: Terminal): Command {
  return clientCommand("open", "open the web page in the browser, signed in")
    .option("--print", "only print the address, which signs one page in, within 10 minutes")
    .option("--json", "print it as JSON")
    .action(async (options: Options) => {
      const config = readConfig(options);
      const server = reachServer(config);
      const api = await openApi(config);
      const { code, expires_at, public_url } = await api.call(createCode);
      if (!options.print && !options.json && (await opened(pageUrl(server.url, code), config))) {
        return terminal.err(`Opened ${server.url} in the browser.\n`);
      }
      // The address may be for a phone or another machine.
      const url = pageUrl(public_url ?? server.url, code);
      terminal.out(options.json ? jsonText({ url, expires_at }, terminal) : `${url}\n`);
    });
}

/** Opens the address in a browser; `false` if there is none. */
async function opened(url: string, config: Config): Promise<boolean> {
  const opener = openerFor(config);
  if (opener === undefined) return false;
  try {
    const { exited } = Bun.spawn([...opener, url], { stdio: ["ignore", "ignore", "ignore"], env: config.environment });
    return (await exited) === 0;
  } catch {
    return false;
  }
}

function openerFor({ path, environment }: Config): string[] | undefined {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["cmd", "/c", "start", ""];
  const hasScreen = environment["DISPLAY"] || environment["WAYLAND_DISPLAY"] || environment["WSL_DISTRO_NAME"];
  const opener = Bun.which("xdg-open", { PATH: path }) ?? Bun.which("wslview", { PATH: path });
  return hasScreen && opener ? [opener] : undefined;
}
