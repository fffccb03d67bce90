import type { Preferences } from "./preferences.ts";

/** Two short tones: high enough for the speaker of a phone. */
const TONES_HZ = [660, 880];
const TONE_SECS = 0.12;
const LOUDNESS = 0.15;

export type Sound = ReturnType<typeof createSound>;

/** Two tones for a new request, where the person wants to hear them. */
export function createSound({ sound }: Pick<Preferences, "sound">) {
  let context: AudioContext | undefined;

  function play(): void {
    context ??= new AudioContext();
    // A browser plays nothing on a page that nobody has touched since it was loaded.
    void context.resume();
    for (const [at, frequency] of TONES_HZ.entries())
      playTone(context, frequency, context.currentTime + at * TONE_SECS);
  }

  return {
    newRequest(): void {
      if (sound.peek() === "yes") play();
    },
    /** Turned on, it is heard at once. */
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
