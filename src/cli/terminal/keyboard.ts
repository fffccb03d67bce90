import { closeSync, constants, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { ReadStream } from "node:tty";

/** A blocking read can't be cancelled and would keep the program from ending, so poll instead. */
const LOOK_EVERY_MS = 25;

/** The keys of the person at the terminal, independent of standard input. */
export type Keyboard = Disposable & {
  /** Passes on keys as they are typed, until disposed. Discards what was typed before. */
  read(onKeys: (keys: string) => void): Disposable;
};

/** Opens the keyboard; `undefined` without a terminal of our own. */
export function openKeyboard(): Keyboard | undefined {
  const fd = openTerminal();
  return fd === undefined ? undefined : keyboardOf(fd);
}

function keyboardOf(fd: number): Keyboard {
  const terminal = new ReadStream(fd);
  const buffer = Buffer.alloc(4096);
  const decoder = new StringDecoder("utf8");

  function typed(): string {
    let keys = "";
    for (;;) {
      const length = readNow(fd, buffer);
      if (length === 0) return keys;
      keys += decoder.write(buffer.subarray(0, length));
    }
  }

  return {
    read(onKeys) {
      terminal.setRawMode(true);
      // Discard earlier keys: the person had not seen the request when typing them.
      typed();
      const timer = setInterval(() => {
        const keys = typed();
        if (keys !== "") onKeys(keys);
      }, LOOK_EVERY_MS);
      return {
        [Symbol.dispose]() {
          clearInterval(timer);
          terminal.setRawMode(false);
        },
      };
    },
    [Symbol.dispose]() {
      terminal.setRawMode(false);
      closeSync(fd);
    },
  };
}

function openTerminal(): number | undefined {
  try {
    return openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Reads the available bytes; 0 if the terminal is gone. */
function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch {
    return 0;
  }
}
