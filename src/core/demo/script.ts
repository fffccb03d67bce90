import type { CallResult, Reply } from "../../claude/scripted/model.ts";

export const DEMO_PROMPT = "Show how Plexus asks for approval: write a greeting to hello.txt.";

const ASKING = "I want to write a greeting to a file. You decide whether I may.";
const ALLOWED =
  "You allowed it, and hello.txt is written. This is how every request works: nothing runs before you decide.";
const DENIED = "You denied it, so nothing was written. A reason that you give is told to me, so that I can do better.";

/** The answers of the demo's model, which wants to write this file. */
export function demoReply(path: string): (results: CallResult[]) => Reply {
  return ([result]) => {
    if (result) return { say: result.isError ? DENIED : ALLOWED };
    return {
      say: ASKING,
      call: { name: "Write", input: { file_path: path, content: "Hello from your first child.\n" } },
    };
  };
}
