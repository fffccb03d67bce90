import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { AuditLine, type AuditProblem, type AuditReport } from "../../../contract/audit.ts";
import { exportAudit, verifyAudit } from "../../../contract/routes/audit.ts";
import { createExportCheck } from "../../../core/audit/export.ts";
import { fileFailure } from "../../server/file-failure.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText, printable } from "../../terminal/printable.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";

const VERIFY_WITHIN_MS = 30 * 60_000;

type Options = Flags & { file?: string; json?: true };

export function auditCommand(terminal: Terminal): Command {
  return new Command("audit")
    .description("check or export the record of all decisions")
    .addCommand(verifyCommand(terminal))
    .addCommand(exportCommand(terminal));
}

function verifyCommand(terminal: Terminal): Command {
  return clientCommand("verify", "find a decision that was changed, removed or inserted")
    .option("--file <FILE>", "check an export, without any server")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const report = await (options.file === undefined ? ofServer(options) : ofFile(options.file));
      if (options.json) terminal.out(jsonText(report, terminal));
      else terminal.out(textOf(report));
      if (!report.intact) throw new CommandFailed("The record was tampered with, or is damaged: see above.");
    });
}

function exportCommand(terminal: Terminal): Command {
  return clientCommand("export", "print the hash chains over all decisions, one JSON object a line").action(
    async (options: Options) => {
      const api = await openApi(readConfig(options));
      const { body } = await api.open(exportAudit);
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) terminal.out(decoder.decode(chunk, { stream: true }));
    },
  );
}

/** Only the server has its record, so it compares the record with the chains itself. */
async function ofServer(options: Options): Promise<AuditReport> {
  const api = await openApi(readConfig(options));
  return api.call(verifyAudit, {}, { signal: AbortSignal.timeout(VERIFY_WITHIN_MS) });
}

/** What an export shows on its own: whether its entries build on each other, and each delivery on a decision. */
async function ofFile(file: string): Promise<AuditReport> {
  const problems: AuditProblem[] = [];
  const report = (problem: AuditProblem) => void problems.push(problem);
  const checks = { decisions: createExportCheck("decisions", report), builtin: createExportCheck("builtin", report) };
  try {
    let number = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = lineIn(text, ++number);
      checks[line.chain].next(line);
    }
  } catch (cause) {
    throw fileFailure(`The export ${file} can't be read`, cause);
  }
  const chains = [checks.decisions.finish(), checks.builtin.finish()];
  if (chains.every(({ entries }) => entries === 0))
    throw new CommandFailed(`The export ${file} has no entries: is it the right file?`);
  return { type: "ok", intact: problems.length === 0, chains, problems, has_more_problems: false };
}

function lineIn(text: string, number: number): AuditLine {
  try {
    return AuditLine.parse(JSON.parse(text));
  } catch {
    throw new CommandFailed(`Line ${number} is not a line of \`plexus audit export\`.`);
  }
}

function textOf({ intact, chains, problems, has_more_problems }: AuditReport): string {
  const lines = chains.map(extentOf);
  const found = problems.map(({ chain, seq, approval_id, problem }) => {
    const where = [`${chain}${seq === null ? "" : ` ${seq}`}`, approval_id && `approval ${approval_id}`];
    return `✗ ${printable(`${where.filter(Boolean).join(", ")}: ${problem}`)}`;
  });
  if (has_more_problems) found.push("✗ and more");
  return `${[...lines, ...found, ...(intact ? ["✓ every entry fits"] : [])].join("\n")}\n`;
}

/** The range of a chain, so that a chain with a late beginning stands out. */
function extentOf({ chain, entries, head, ...extent }: AuditReport["chains"][number]): string {
  const { forgotten_through, chained_since, first_at, head_at } = extent;
  if (entries === 0) return `${chain}: no entries`;
  const reach = `${forgotten_through + 1} (${moment(first_at)}) to ${head.seq} (${moment(head_at)})`;
  const forgotten =
    forgotten_through < 0
      ? ""
      : `, begun ${moment(chained_since)}, those up to ${forgotten_through} forgotten by age or space`;
  return `${chain}: ${entries} ${entries === 1 ? "entry" : "entries"}, ${reach}${forgotten}; the newest is ${head.seq}, ${head.hash}`;
}

function moment(at: number | null): string {
  return at === null ? "at no known time" : new Date(at).toISOString();
}
