import type { TextContent } from "@modelcontextprotocol/sdk/types.js";

/** One red pixel. */
export const PNG = {
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  mimeType: "image/png",
};

/** A WAV header without any sound. */
export const WAV = {
  data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=",
  mimeType: "audio/wav",
};

export function text(words: string): TextContent {
  return { type: "text", text: words };
}
