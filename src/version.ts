import manifest from "../package.json" with { type: "json" };

declare const BUILD_COMMIT: string;

export const VERSION: string = manifest.version;
/** What the executable was built from; none when it runs from source. */
export const COMMIT: string | undefined = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : undefined;
