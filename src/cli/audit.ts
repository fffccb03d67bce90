import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { type Flags, readConfig } from "../config.ts";
import { createLinkCheck } from "../domain/audit-links.ts";
import { AuditChain, AuditLine, type AuditProblem, AuditReport } from "../schema/audit.ts";
import { fileFailure } from "./file-failure.ts";
import { jsonText, printable } from "./printable.ts";
import { findServer } from "./server-client.ts";
import { clientCommand } from "./settings.ts";
import { CommandFailed, type Terminal } from "./terminal.ts";

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
      const { body } = await findServer(readConfig(options)).fetch("/api/v1/audit/export");
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) terminal.out(decoder.decode(chunk, { stream: true }));
    },
  );
}

/** The server compares its record with the chains; only it has the record. */
async function ofServer(options: Options): Promise<AuditReport> {
  const signal = AbortSignal.timeout(VERIFY_WITHIN_MS);
  const response = await findServer(readConfig(options)).fetch("/api/v1/audit/verify", { signal });
  return AuditReport.parse(await response.json());
}

/** What an export tells by itself: whether its entries build on each other. */
async function ofFile(file: string): Promise<AuditReport> {
  const problems: AuditProblem[] = [];
  const report = (problem: AuditProblem) => void problems.push(problem);
  const checks = new Map(AuditChain.options.map((chain) => [chain, { links: createLinkCheck(chain), entries: 0 }]));
  try {
    let number = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = lineIn(text, ++number);
      const check = checks.get(line.chain);
      if (!check) continue;
      check.entries++;
      check.links.next(line, report);
    }
  } catch (cause) {
    throw fileFailure(`The export ${file} can't be read`, cause);
  }
  if ([...checks.values()].every(({ entries }) => entries === 0))
    throw new CommandFailed(`The export ${file} has no entries: is it the right file?`);
  const chains = [...checks].map(([chain, { links, entries }]) => {
    links.finish(report);
    return { chain, entries, head: links.head(), forgotten_through: links.beginsBehind() };
  });
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
  const lines = chains.map(({ chain, entries, head, forgotten_through }) => {
    const forgotten = forgotten_through < 0 ? "" : `, those up to ${forgotten_through} forgotten by age or space`;
    if (entries === 0) return `${chain}: no entries`;
    return `${chain}: ${entries} ${entries === 1 ? "entry" : "entries"}${forgotten}; the newest is ${head.seq}, ${head.hash}`;
  });
  const found = problems.map(({ chain, seq, approval_id, problem }) => {
    const where = [`${chain}${seq === null ? "" : ` ${seq}`}`, approval_id && `approval ${approval_id}`];
    return `✗ ${printable(`${where.filter(Boolean).join(", ")}: ${problem}`)}`;
  });
  if (has_more_problems) found.push("✗ and more");
  return `${[...lines, ...found, ...(intact ? ["✓ every entry fits"] : [])].join("\n")}\n`;
}
