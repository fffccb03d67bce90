import type { Preferences } from "./preferences.ts";

/** Two short tones, high enough for a phone's speaker. */
const TONES_HZ = [660, 880];
const TONE_SECS = 0.12;
const LOUDNESS = 0.15;

export type Sound = ReturnType<typeof createSound>;

/** Plays two tones for a new request, if the person turned this on. */
export function createSound({ sound }: Pick<Preferences, "sound">) {
  let context: AudioContext | undefined;

  function play(): void {
    context ??= new AudioContext();
    // Browsers play no sound before the person has touched the page.
    void context.resume();
    for (const [at, frequency] of TONES_HZ.entries())
      playTone(context, frequency, context.currentTime + at * TONE_SECS);
  }

  return {
    newRequest(): void {
      if (sound.peek() === "yes") play();
    },
    /** Turns the sound on or off, and plays it once when turned on. */
    want(isWanted: boolean): void {
      sound.value = isWanted ? "yes" : "no";
      if (isWanted) play();
    },
  };
}

function playTone(context: AudioContext, frequency: number, start: number): void {
  const tone = new OscillatorNode(context, { frequency });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setTargetAtTime(LOUDNESS, start, 0.01);
  volume.gain.setTargetAtTime(0, start + TONE_SECS * 0.6, 0.02);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(start + TONE_SECS * 2);
}
