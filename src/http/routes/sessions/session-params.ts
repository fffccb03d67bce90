/** The path parameter of every route about one session. */
export const sessionParams = { key: "The session's id, or its name" };
