export const UP = ["k", "\u001b[A", "\u001bOA"];
export const DOWN = ["j", "\u001b[B", "\u001bOB"];
export const [PAGE_UP, PAGE_DOWN] = ["\u001b[5~", "\u001b[6~"];
