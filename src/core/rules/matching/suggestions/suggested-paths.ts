import { follow, isWithin } from "../../../../files/real-path.ts";
import { fileOf } from "../../file-tools.ts";
import { EDITORS } from "../../tool-kinds.ts";
import type { JudgedCall } from "../judged-call.ts";

/** Patterns for the file of a call: its directory first, then the file itself. */
export function suggestedPaths(judged: JudgedCall): string[] {
  const { call, place } = judged;
  const files = judged.files();
  const found = files && fileOf(call, files);
  if (!found) return [];
  const tool = EDITORS.includes(call.toolName) ? "Edit" : "Read";
  const home = follow(place.home)?.real;
  if (isWithin(files.start, found.real)) return belowStart("./", found.real.slice(files.start.length + 1), tool);
  if (home !== undefined && isWithin(home, found.real)) {
    return belowStart("~/", found.real.slice(home.length + 1), tool);
  }
  return [`${tool}(/${found.real})`];
}

function belowStart(start: string, path: string, tool: string): string[] {
  const directory = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  return [...(directory === "" ? [] : [`${tool}(${start}${directory}/**)`]), `${tool}(${start}${path})`];
}
