import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { signForMac } from "../../scripts/release/mac-signature.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const X86_64 = 0x01000007;
const ARM64 = 0x0100000c;
const CODE_BYTES = 3 * 4096 + 100;

describe("signForMac", () => {
  test("replaces a broken signature with one that hashes every page as it is on disk", async () => {
    const signed = await signedExecutable();
    const { limit, hashes } = directoryOf(signed);
    const pages = Array.from({ length: Math.ceil(limit / 4096) }, (_, page) =>
      signed.subarray(page * 4096, Math.min((page + 1) * 4096, limit)),
    );
    expect(limit).toBe(CODE_BYTES);
    expect(hashes).toEqual(pages.map((page) => createHash("sha256").update(page).digest("hex")));
  });

  test("puts the signature at the end of the file and of its mapped segment", async () => {
    const signed = await signedExecutable();
    const { signatureBytes, mappedUntil } = commandsOf(signed);
    expect(signed.length).toBe(CODE_BYTES + signatureBytes);
    expect(mappedUntil).toBe(signed.length);
  });

  test("changes nothing the second time", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "plexus");
    await writeFile(path, executable(X86_64));
    await signForMac(path);
    const once = await readFile(path);
    await signForMac(path);
    expect(await readFile(path)).toEqual(once);
  });

  test("refuses other files", async () => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "plexus");
    await writeFile(path, executable(ARM64));
    await expect(signForMac(path)).rejects.toThrow("not for Intel Macs");
  });
});

async function signedExecutable(): Promise<Buffer> {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "plexus");
  await writeFile(path, executable(X86_64));
  await signForMac(path);
  return await readFile(path);
}

/** The smallest executable that can be signed: two segments, and an invalid signature. */
function executable(cpu: number): Buffer {
  const file = Buffer.alloc(CODE_BYTES + 5_000, 0xaa);
  file.fill(0, 0, 512);
  for (const [index, word] of [0xfeedfacf, cpu, 3, 2, 3].entries()) file.writeUInt32LE(word, index * 4);
  segment(file, 32, "__TEXT", 0, 8192);
  segment(file, 104, "__LINKEDIT", 8192, file.length - 8192);
  for (const [index, word] of [0x1d, 16, CODE_BYTES, 5_000].entries()) file.writeUInt32LE(word, 176 + index * 4);
  return file;
}

function segment(file: Buffer, at: number, name: string, offset: number, bytes: number): void {
  file.writeUInt32LE(0x19, at);
  file.writeUInt32LE(72, at + 4);
  file.write(name, at + 8, "latin1");
  file.writeBigUInt64LE(BigInt(offset), at + 40);
  file.writeBigUInt64LE(BigInt(bytes), at + 48);
}

function commandsOf(file: Buffer): { signatureBytes: number; mappedUntil: number } {
  const mappedUntil = Number(file.readBigUInt64LE(104 + 40) + file.readBigUInt64LE(104 + 48));
  return { signatureBytes: file.readUInt32LE(176 + 12), mappedUntil };
}

/** Read like the loader does: the envelope, then the directory that it points to. */
function directoryOf(file: Buffer): { limit: number; hashes: string[] } {
  const envelope = file.subarray(file.readUInt32LE(176 + 8));
  expect(envelope.readUInt32BE(0)).toBe(0xfade0cc0);
  const directory = envelope.subarray(envelope.readUInt32BE(16));
  expect(directory.readUInt32BE(0)).toBe(0xfade0c02);
  const [first, count, limit] = [directory.readUInt32BE(16), directory.readUInt32BE(28), directory.readUInt32BE(32)];
  const hashes = Array.from({ length: count }, (_, page) =>
    directory.subarray(first + page * 32, first + (page + 1) * 32).toString("hex"),
  );
  return { limit, hashes };
}
