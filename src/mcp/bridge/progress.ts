import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../contract/values.ts";

const METHOD = "notifications/progress";
/** The server reports progress on a waiting call every 20 s; after this time the bridge does so itself. */
const SPEAK_AFTER_MS = 23_000;

const Token = z.union([z.string(), z.number()]);
const Progress = z.looseObject({ progressToken: Token, progress: z.number() });

type CallProgress = Disposable & {
  /** The same message, with a progress that never goes back: each server that gets the call counts from one. */
  passed(message: JsonObject): JsonObject;
};

/** Reports progress on a call to the client. While a call is held, it does so even if no server is there. */
export function createCallProgress(
  params: JsonObject,
  isHeld: boolean,
  write: (message: JsonObject) => Promise<void>,
  speakAfterMs = SPEAK_AFTER_MS,
): CallProgress {
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  const token = Token.safeParse(meta["progressToken"]).data;
  let told = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const speakLater = () => {
    clearTimeout(timer);
    if (isHeld && token !== undefined) timer = setTimeout(speak, speakAfterMs);
  };
  const speak = () => {
    told = Math.max(0, told) + 1;
    const progress = { progressToken: token, progress: told, message: "Waiting" };
    speakLater();
    void write({ jsonrpc: "2.0", method: METHOD, params: progress });
  };
  speakLater();

  return {
    passed(message) {
      const progress = message["method"] === METHOD ? Progress.safeParse(message["params"]).data : undefined;
      if (!progress || progress.progressToken !== token) return message;
      told = progress.progress > told ? progress.progress : told + 1;
      speakLater();
      return { ...message, params: { ...progress, progress: told } };
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
