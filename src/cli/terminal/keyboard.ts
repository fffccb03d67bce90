import { closeSync, constants, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { ReadStream } from "node:tty";

/** A read that waits can't be given up again, and would keep the program from ending: so it looks often instead. */
const LOOK_EVERY_MS = 25;

/** The keys of the person at the terminal, whatever standard input is. */
export type Keyboard = Disposable & {
  /** Hands over keys as they are typed, until disposed; what was typed before is thrown away. */
  read(onKeys: (keys: string) => void): Disposable;
};

/** `undefined` where no terminal is ours. */
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
      // Nobody has decided on what they had not seen yet.
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

/** How many bytes were there to read; none on a terminal that is gone. */
function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch {
    return 0;
  }
}
