import { WaitInput } from "../approvals/approval.ts";
import { Waited } from "../tools/wait-answers.ts";
import { route } from "./declaration/route.ts";

export const waitForNext = route("POST", "/api/v1/wait", { body: WaitInput, answer: Waited });
