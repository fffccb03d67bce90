import { ConversationContext, ConversationTree } from "../sessions/answers.ts";

export const TreeAnswer = ConversationTree.strict();
export const ContextAnswer = ConversationContext.strict();
