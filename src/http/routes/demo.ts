import type { App } from "../../app.ts";
import { startDemo } from "../../contract/routes/demo.ts";
import { SESSION_ID, TURN_ID } from "../../contract/samples.ts";
import { type Served, serve } from "../serve.ts";

export type DemoApp = Pick<App, "demos">;

export function demoRoutes({ demos }: DemoApp): Served[] {
  return [
    serve(startDemo, {
      tag: "Sessions",
      summary: "Starts a demo: a child that asks once for approval to write a file",
      details:
        "The child is this machine's Claude Code, driven by a built-in model: no key is needed, and nothing is paid. It works in a temporary directory. The session is removed some minutes after its end; the decision stays on record. A caller has one demo at a time.",
      answers: {
        201: {
          says: "It has started, or the caller's demo was under way.",
          example: { type: "started", session_id: SESSION_ID, turn_id: TURN_ID, name: "demo", kept_secs: 600 },
        },
      },
      errors: ["claude_unavailable"],
    }).by(({ principal }) => demos.start(principal)),
  ];
}
