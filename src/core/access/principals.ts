/** Who is calling. A session is a child: it may only make its own requests. */
export type Principal =
  /** `page`: the id of the web page's token, if the call uses one. */
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

/** The id of the token that the principal calls with. Commands check in their transaction that it is not revoked. */
export function callingToken(principal: Principal): string | undefined {
  if (principal.kind === "session") return undefined;
  // A page's token is deleted together with its maker's.
  return principal.page ?? (principal.kind === "token" ? principal.id : undefined);
}

/** The id of the named token that is this owner; `undefined` for any other owner. */
export function tokenIdIn(owner: string): string | undefined {
  return /^token:(.+)$/.exec(owner)?.[1];
}

/** The principal's name in the record of decisions. */
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

/** The owner whose sessions and requests a principal sees; `undefined` means every owner's. */
export function visibleOwner(principal: Principal): string | undefined {
  return principal.kind === "operator" ? undefined : ownerKey(principal);
}

export function mayDecide(principal: Principal, owner: string): boolean {
  if (principal.kind === "session") return false;
  return principal.kind === "operator" || ownerKey(principal) === owner;
}
