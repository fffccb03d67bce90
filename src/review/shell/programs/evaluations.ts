import type { SyntaxNode } from "unbash";

/** Whether an array index contains a command, which arithmetic runs even if it was quoted. */
export function hasCommandInIndex(text: string): boolean {
  // Piece by piece: one pattern for the whole text would scan long texts repeatedly.
  return text.split("]").some((piece) => {
    const index = piece.search(/\w\[/);
    return index >= 0 && /\$\(|`/.test(piece.slice(index));
  });
}

const ARITHMETIC_TESTS = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Returns the text of this node that the shell evaluates as arithmetic or as a prompt, if that runs commands. */
export function evaluationIn(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case "ArithmeticExpansion":
      return withCommand(node.text);
    case "ArithmeticCommand":
      return withCommand(node.body);
    case "TestBinary":
      return ARITHMETIC_TESTS.has(node.operator) ? withCommand(`${node.left.value} ${node.right.value}`) : undefined;
    case "TestUnary":
      return node.operator === "-v" ? withCommand(node.operand.value) : undefined;
    case "Assignment":
      return node.index && withCommand(`${node.name}[${node.index.text}]`);
    case "ParameterExpansion":
      if (node.operation?.type === "Transform" && node.operation.operand.text === "P") return node.text;
      return withCommand(node.text);
    default:
      return undefined;
  }
}

function withCommand(text: string): string | undefined {
  return hasCommandInIndex(text) ? text : undefined;
}
