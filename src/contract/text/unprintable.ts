/** Characters that could move a cursor, change colours, reorder text or be invisible; line breaks are not among them. */
export const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Whether a text has characters that are not visible; tabs do not count. */
export function hasInvisibleCharacters(text: string): boolean {
  return text.replaceAll("\t", "").search(UNPRINTABLE) >= 0;
}
