import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../run.ts";

const PLACEHOLDER = "DEFAULT_DOWNLOAD_URL=''";

/** Returns the release's `install.sh`, which contains its download URL. */
export async function installScript(downloadUrl: string | undefined): Promise<string> {
  const text = await readFile(join(ROOT, "install.sh"), "utf8");
  if (!text.includes(PLACEHOLDER)) throw new Error(`install.sh has no line ${PLACEHOLDER}`);
  if (downloadUrl === undefined) return text;
  if (!/^https:\/\/[\w.:/@%+-]+$/.test(downloadUrl))
    throw new Error(`${downloadUrl} is no https address to download from`);
  return text.replace(PLACEHOLDER, `DEFAULT_DOWNLOAD_URL='${downloadUrl.replace(/\/+$/, "")}'`);
}
