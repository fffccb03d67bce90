/** Characters that could move a cursor, change colours, reorder text or be invisible; line breaks are not among them. */
export const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns whether a text contains invisible characters; tabs don't count. */
export function hasInvisibleCharacters(text: string): boolean {
  return text.replaceAll("\t", "").search(UNPRINTABLE) >= 0;
}
