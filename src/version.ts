import manifest from "../package.json" with { type: "json" };

declare const BUILD_COMMIT: string;

export const VERSION: string = manifest.version;
/** The commit of the executable; undefined when run from source. */
export const COMMIT: string | undefined = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : undefined;
