import { Command } from "commander";
import { type Setting, SPELLINGS } from "../../config.ts";

/** Settings of commands that talk to the running server. */
const CLIENT_SETTINGS: Setting[] = ["dataDir", "url"];

/** Makes a command that talks to the running server. */
export function clientCommand(name: string, description: string): Command {
  return withSettings(new Command(name).description(description), CLIENT_SETTINGS);
}

/** Adds the flags of these settings to a command. */
export function withSettings(command: Command, settings: Setting[]): Command {
  for (const setting of settings) {
    const { flag, value, env, help } = SPELLINGS[setting];
    if (flag) command.option(`${flag} <${value}>`, `${help} [${env}]`);
  }
  return command;
}
