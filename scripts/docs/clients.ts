import { CLIENTS, type ClientName } from "../../src/claude/launch/client-files.ts";
import { clientOf } from "../../src/cli/connect/clients.ts";
import { readConfig } from "../../src/config.ts";

const SERVER = { url: "http://127.0.0.1:4445", token: "TOKEN" };

/** For each client, the settings that `plexus connect` writes. */
export const CLIENT_PARTS = Object.fromEntries(CLIENTS.map((name) => [`settings-${name}`, () => settings(name)]));

function settings(name: ClientName): string {
  const config = { ...readConfig({}, { HOME: "/" }), program: ["plexus"] };
  const { entry, format, file } = clientOf(name, config);
  return `\`\`\`${file.endsWith(".toml") ? "toml" : "json"}\n${format.alone(entry(SERVER))}\`\`\``;
}
