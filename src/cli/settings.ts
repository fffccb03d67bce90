import type { Command } from "commander";
import { type Config, type Flags, readConfig, type Setting, SPELLINGS } from "../config.ts";

/** Settings of commands that talk to the running server. */
export const CLIENT_SETTINGS: Setting[] = ["dataDir", "url"];

export const SERVER_SETTINGS: Setting[] = [
  "host",
  "port",
  "dataDir",
  "auth",
  "claude",
  "approvalTimeoutSecs",
  "maxRunning",
  "workspace",
  "retentionDays",
  "logLevel",
  "allowedHosts",
];

/** Adds the flags of these settings to a command. */
export function withSettings(command: Command, settings: Setting[]): Command {
  for (const setting of settings) {
    const { flag, value, env, help } = SPELLINGS[setting];
    if (flag) command.option(`${flag} <${value}>`, `${help} [${env}]`);
  }
  return command;
}

export function configOf(options: Flags): Config {
  return readConfig(options);
}
