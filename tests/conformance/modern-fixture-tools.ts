import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { CONTENT_TOOLS } from "./fixture-contents.ts";
import { text } from "./samples.ts";

type Answer = CallToolResult | InputRequiredResult;
type ModernTool = {
  description: string;
  inputSchema?: Record<string, unknown>;
  run(context: ServerContext, input: unknown): Answer | Promise<Answer>;
};

const Capabilities = z.looseObject({ sampling: z.looseObject({}), elicitation: z.looseObject({}) }).partial();
/** The SDK has no type for it. */
const Envelope = z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: Capabilities });

/** Signs the state that a client must send back, so that the server recognizes it. */
export const requestStates = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

const ASKS = {
  name: elicitation("What is your name?", "name"),
  confirm: elicitation("Please confirm", "ok", { type: "boolean" }),
  color: elicitation("What is your favorite color?", "color"),
  context: elicitation("What context should the prompt use?", "context"),
  capital: inputRequired.createMessage({
    messages: [{ role: "user", content: text("What is the capital of France?") }],
    maxTokens: 100,
  }),
  roots: inputRequired.listRoots(),
};

/** The tools that the suite calls in 2026-07-28, by name. Each one's scenario describes what it must do. */
export const MODERN_TOOLS: Record<string, ModernTool> = {
  ...contentTools(),
  test_tool_with_progress: {
    description: "Tells of its progress three times before it answers",
    async run({ mcpReq: { _meta: meta, notify } }) {
      const progressToken = meta?.progressToken;
      if (progressToken === undefined) return { content: [text("Nobody asked for progress.")] };
      for (const progress of [0, 50, 100])
        await notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      return { content: [text("Progressed from 0 to 100.")] };
    },
  },
  test_logging_tool: {
    description: "Logs before it answers, where the request asks for that",
    async run({ mcpReq }) {
      await mcpReq.log("info", "Tool execution started");
      return { content: [text("Logged.")] };
    },
  },
  test_missing_capability: {
    description: "Needs a client that can sample",
    run(context) {
      if (!capabilitiesOf(context).sampling)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return { content: [text("The client can sample.")] };
    },
  },
  test_streaming_elicitation: asking({ user_name: ASKS.name }),
  test_input_required_result_elicitation: asking({ user_name: ASKS.name }),
  test_input_required_result_sampling: asking({ capital_question: ASKS.capital }),
  test_input_required_result_list_roots: asking({ client_roots: ASKS.roots }),
  test_input_required_result_request_state: asking({ confirm: ASKS.confirm }, "confirming"),
  test_input_required_result_tampered_state: asking({ confirm: ASKS.confirm }, "confirming"),
  test_input_required_result_multiple_inputs: asking(
    { user_name: ASKS.name, greeting: ASKS.capital, client_roots: ASKS.roots },
    "several",
  ),
  test_input_required_result_multi_round: {
    description: "Asks the client's user twice",
    async run({ mcpReq: { inputResponses = {}, requestState } }) {
      const round = requestState<string>();
      if (round === "second" && "step2" in inputResponses) return { content: [text("Asked twice.")] };
      return round === "first" && "step1" in inputResponses
        ? inputRequired({ inputRequests: { step2: ASKS.color }, requestState: await requestStates.mint("second") })
        : inputRequired({ inputRequests: { step1: ASKS.name }, requestState: await requestStates.mint("first") });
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks only for what the client can do",
    run(context) {
      const { sampling, elicitation } = capabilitiesOf(context);
      const inputRequests: InputRequests = {
        ...(sampling && { capital_question: ASKS.capital }),
        ...(elicitation && { user_name: ASKS.name }),
      };
      return inputRequired({ inputRequests });
    },
  },
};

/** Asks for all of this, in as many rounds as needed, and then answers. */
export async function answeredOnce<T>(
  { mcpReq: { inputResponses = {} } }: ServerContext,
  inputRequests: InputRequests,
  answer: T,
  state?: string,
): Promise<T | InputRequiredResult> {
  if (Object.keys(inputRequests).every((key) => key in inputResponses)) return answer;
  return inputRequired({ inputRequests, ...(state && { requestState: await requestStates.mint(state) }) });
}

export const PROMPT_THAT_ASKS = { user_context: ASKS.context };

function capabilitiesOf({ mcpReq: { envelope } }: ServerContext): z.infer<typeof Capabilities> {
  return Envelope.parse(envelope)[CLIENT_CAPABILITIES_META_KEY];
}

function asking(inputRequests: InputRequests, state?: string): ModernTool {
  return {
    description: "Asks the client first",
    run(context) {
      const isKnown = state !== undefined && context.mcpReq.requestState<string>() === state;
      const answer: CallToolResult = { content: [text(isKnown ? "state-ok" : "The client has answered.")] };
      return answeredOnce(context, inputRequests, answer, state);
    },
  };
}

function elicitation(
  message: string,
  name: string,
  field: { type: "boolean" } | { type: "string" } = { type: "string" },
) {
  const requestedSchema = { type: "object" as const, properties: { [name]: field }, required: [name] };
  return inputRequired.elicit({ message, requestedSchema });
}

function contentTools(): Record<string, ModernTool> {
  const tools = Object.entries(CONTENT_TOOLS);
  return Object.fromEntries(
    tools.map(([name, { run, ...described }]) => [
      name,
      { ...described, run: (_: ServerContext, input: unknown) => run(input) as CallToolResult },
    ]),
  );
}
