/** Characters that could move a cursor, change colours, reorder text or hide in it; line breaks apart. */
export const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
