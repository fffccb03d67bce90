/** Characters that could move a cursor, change colours, reorder text or hide in it; line breaks apart. */
export const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Whether a text has characters that would not show; tabs apart. */
export function hidesSomething(text: string): boolean {
  return text.replaceAll("\t", "").search(UNPRINTABLE) >= 0;
}
