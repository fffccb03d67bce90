import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const X86_64 = 0x01000007;
const HEADER_BYTES = 32;
const PAGE_BYTES = 4096;
const HASH_BYTES = 32;
const DIRECTORY_BYTES = 88;
const ADHOC_LINKER_SIGNED = 0x20002;

/**
 * Signs an executable for Intel Macs ad hoc. Bun signs executables for Apple silicon, but in those for Intel it leaves
 * Bun's signature, which the added code makes invalid; macOS kills a program with an invalid signature.
 */
export async function signForMac(path: string): Promise<void> {
  await using file = await open(path, "r+");
  const code = Buffer.alloc((await file.stat()).size);
  await file.read(code, 0, code.length, 0);
  const { signature, linkEdit, text } = commandsOf(code);
  const limit = code.readUInt32LE(signature + 8);
  const blob = signatureOf("plexus", code, limit, text);
  // The signature's position and size are signed too.
  code.writeUInt32LE(blob.length, signature + 12);
  const fileSize = BigInt(limit + blob.length) - code.readBigUInt64LE(linkEdit + 40);
  code.writeBigUInt64LE(fileSize, linkEdit + 48);
  code.writeBigUInt64LE((fileSize + 0x3fffn) & ~0x3fffn, linkEdit + 32);
  const signed = signatureOf("plexus", code, limit, text);
  await file.write(code, 0, limit, 0);
  await file.write(signed, 0, signed.length, limit);
  await file.truncate(limit + signed.length);
}

type Commands = { signature: number; linkEdit: number; text: { offset: bigint; bytes: bigint } };

function commandsOf(code: Buffer): Commands {
  if (code.readUInt32LE(0) !== 0xfeedfacf || code.readUInt32LE(4) !== X86_64) throw new Error("not for Intel Macs");
  const found: Partial<Commands> = {};
  let at = HEADER_BYTES;
  for (let left = code.readUInt32LE(16); left > 0; left--) {
    const kind = code.readUInt32LE(at);
    const segment = kind === SEGMENT_64 ? code.toString("latin1", at + 8, at + 24).replace(/\0+$/, "") : "";
    if (kind === CODE_SIGNATURE) found.signature = at;
    if (segment === "__LINKEDIT") found.linkEdit = at;
    if (segment === "__TEXT") {
      found.text = { offset: code.readBigUInt64LE(at + 40), bytes: code.readBigUInt64LE(at + 48) };
    }
    at += code.readUInt32LE(at + 4);
  }
  const { signature, linkEdit, text } = found;
  if (signature === undefined || linkEdit === undefined || !text) throw new Error("the executable is laid out anew");
  return { signature, linkEdit, text };
}

/** Builds one blob with the hash of each page, in Apple's big-endian layout (cs_blobs.h, version 0x20400). */
function signatureOf(identifier: string, code: Buffer, limit: number, text: Commands["text"]): Buffer {
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(limit / PAGE_BYTES);
  const hashes = DIRECTORY_BYTES + name.length;
  const directory = Buffer.alloc(hashes + pages * HASH_BYTES);
  const words = [0xfade0c02, directory.length, 0x20400, ADHOC_LINKER_SIGNED, hashes, DIRECTORY_BYTES, 0, pages, limit];
  for (const [index, word] of words.entries()) directory.writeUInt32BE(word, index * 4);
  const [sha256, log2OfPage] = [2, 12];
  directory.set([HASH_BYTES, sha256, 0, log2OfPage], 36);
  directory.writeBigUInt64BE(text.offset, 64);
  directory.writeBigUInt64BE(text.bytes, 72);
  const isMainExecutable = 1n;
  directory.writeBigUInt64BE(isMainExecutable, 80);
  directory.set(name, DIRECTORY_BYTES);
  for (let page = 0; page < pages; page++) {
    const bytes = code.subarray(page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, limit));
    directory.set(createHash("sha256").update(bytes).digest(), hashes + page * HASH_BYTES);
  }
  const envelope = Buffer.alloc(20);
  for (const [index, word] of [0xfade0cc0, envelope.length + directory.length, 1, 0, envelope.length].entries()) {
    envelope.writeUInt32BE(word, index * 4);
  }
  return Buffer.concat([envelope, directory]);
}
