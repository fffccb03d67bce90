import type { Random } from "../../tests/support/random.ts";
import { until } from "../../tests/support/until.ts";
import { within } from "../crash/moment.ts";
import { expectKilled, type Setup } from "../crash/setup.ts";
import { EAGER, type Habits, liveAsChild } from "./child.ts";
import { keepDeciding } from "./deciding.ts";
import { connectParent, type McpParent, type Parent, restVoice } from "./parents.ts";
import { startWatcher, type Watcher } from "./watcher.ts";

const FINISH_MS = 60_000;

export type Actors = {
  watchers: Watcher[];
  /** Rejects if an actor receives something that it can't parse. */
  failed: Promise<never>;
  /** Stops new requests, and resolves when every actor has received its due answers. */
  finish(): Promise<void>;
  /** Call when no server runs. */
  end(): Promise<void>;
};

/**
 * Starts children that make requests, parents that decide over MCP and REST, and watchers; all of them outlive every
 * server.
 */
export async function startActors(
  setup: Setup,
  parents: Parent[],
  random: Random,
  { children = 5, habits = EAGER }: { children?: number; habits?: Habits } = {},
): Promise<Actors> {
  const { victim, disk } = setup;
  const stop = { asking: new AbortController(), deciding: new AbortController(), watching: new AbortController() };
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  const guarded = (work: Promise<void>) =>
    work.catch((cause: unknown) => {
      if (!(cause instanceof Ended)) failure.reject(cause);
    });

  const mcpParents = await Promise.all(parents.map((parent) => connectParent(setup, parent)));
  const voices = [...mcpParents.map(({ voice }) => voice), ...parents.map((parent) => restVoice(setup, parent))];
  const watchers = parents.map((parent) =>
    startWatcher(setup, parent, random.of(`watcher ${parent.name}`), stop.watching.signal),
  );
  const watching = watchers.map(({ ended }) => guarded(ended));
  const deciding = voices.map((voice, index) => {
    const rivals = voices.filter((other) => other !== voice);
    return guarded(keepDeciding(setup, voice, rivals, random.of(`decider ${index}`), stop.deciding.signal));
  });
  const asking = Array.from({ length: children }, (_, index) =>
    guarded(keepChild(setup, mcpParents, random.of(`child ${index}`), habits, stop.asking.signal)),
  );

  return {
    watchers,
    failed: failure.promise,
    async finish() {
      stop.asking.abort();
      await within(FINISH_MS, "every ask to be answered", Promise.race([failure.promise, Promise.all(asking)]));
      stop.deciding.abort();
      await Promise.all(deciding);
      await until("the watchers to have seen everything", () => watchers.every(hasSeenAll));
      stop.watching.abort();
    },
    async end() {
      for (const controller of Object.values(stop)) controller.abort();
      victim.giveUp(new Ended());
      await within(FINISH_MS, "everybody to go", Promise.all([...asking, ...deciding, ...watching]));
      await Promise.all(mcpParents.map((parent) => parent[Symbol.asyncDispose]()));
    },
  };

  function hasSeenAll(watcher: Watcher): boolean {
    const isVisible = ({ owner }: { owner: string }) => watcher.owner === "operator" || watcher.owner === owner;
    return !disk.changesAfter(watcher.lastId()).some(isVisible);
  }
}

/** The rounds are over, and no further server will start. */
class Ended extends Error {}

/** Runs one child after the other, each in its own session. */
async function keepChild(
  setup: Setup,
  parents: McpParent[],
  random: Random,
  habits: Habits,
  over: AbortSignal,
): Promise<void> {
  for (let count = 0; !over.aborted; count++) {
    const life = await setup.victim.up();
    const configured = await random
      .pick(parents)
      .configure(life)
      .catch((cause: unknown) => expectKilled(setup, life, "configuring a child", cause));
    if (configured) await liveAsChild(setup, configured, random.of(`life ${count}`), () => over.aborted, habits);
  }
}
