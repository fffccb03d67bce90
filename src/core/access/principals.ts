/** Who is calling. A session is a child: it may ask for its own calls, and nothing else. */
export type Principal =
  /** `page`: the id of the page's token that calls, where one does. */
  | { kind: "operator"; page?: string }
  | { kind: "token"; id: string; name: string; page?: string }
  | { kind: "session"; sessionId: string };

export type Decider = Exclude<Principal, { kind: "session" }>;

/** The key under which a principal owns what it created. */
export function ownerKey(principal: Principal): string {
  switch (principal.kind) {
    case "operator":
      return "operator";
    case "token":
      return `token:${principal.id}`;
    case "session":
      return `session:${principal.sessionId}`;
  }
}

/** The id of the token that a principal calls with, which must not be revoked when something is committed for it. */
export function callingToken(principal: Principal): string | undefined {
  if (principal.kind === "session") return undefined;
  // A page's token ends with that of its maker.
  return principal.page ?? (principal.kind === "token" ? principal.id : undefined);
}

/** The id of the named token that is this owner; `undefined` when it is somebody else. */
export function tokenIdIn(owner: string): string | undefined {
  return /^token:(.+)$/.exec(owner)?.[1];
}

/** How the record of a decision names who made it. */
export function displayName(principal: Principal): string {
  switch (principal.kind) {
    case "operator":
      return "operator";
    case "token":
      return `token:${principal.name}`;
    case "session":
      return `session:${principal.sessionId}`;
  }
}

/** The owner whose things a principal sees; `undefined` means everybody's. */
export function visibleOwner(principal: Principal): string | undefined {
  return principal.kind === "operator" ? undefined : ownerKey(principal);
}

export function mayDecide(principal: Principal, owner: string): boolean {
  if (principal.kind === "session") return false;
  return principal.kind === "operator" || ownerKey(principal) === owner;
}
