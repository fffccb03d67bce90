/** The path of every route that is about one session names it so. */
export const sessionParams = { key: "The session's id, or its name" };
