import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { z } from "zod";
import { listTokens, type NamedToken, revokeToken } from "../../contract/routes/tokens.ts";
import { Name } from "../../contract/values.ts";
import { usePage } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { CopyButton } from "../shared/elements/copy-button.tsx";
import { Dialog } from "../shared/elements/dialog.tsx";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { reasonOf } from "../shared/reason.ts";

type Token = z.infer<typeof NamedToken>;

/** Lists and revokes named tokens. They are created on the command line, where the operator's own token is. */
export function TokenSettings() {
  const { api, announcer } = usePage();
  const tokens = useSignal<Token[] | undefined>(undefined);
  const revoking = useSignal<Token | undefined>(undefined);
  const read = async () => {
    try {
      tokens.value = (await api.call(listTokens)).tokens;
    } catch (cause) {
      announcer.complain(`The tokens can't be listed: ${reasonOf(cause)}`);
    }
  };
  useEffect(() => void read(), []);
  const close = () => {
    revoking.value = undefined;
    void read();
  };
  return (
    <section class="setting" aria-labelledby="tokens">
      <h2 id="tokens">Tokens</h2>
      <p class="note">A named token sees and decides only what it created.</p>
      {tokens.value?.length === 0 && <p>There are no named tokens.</p>}
      {tokens.value && tokens.value.length > 0 && (
        <Scrollable class="table-scroll" label="Named tokens">
          <table class="table">
            <thead>
              <tr>
                <th>Name</th>
                <th>Created</th>
                <th>Last used</th>
                <th>May allow</th>
                <th class="right">Revoke</th>
              </tr>
            </thead>
            <tbody>
              {tokens.value.map((token) => (
                <tr key={token.id}>
                  <td>{token.name}</td>
                  <td>{moment(token.created_at)}</td>
                  <td>{token.last_used_at === null ? "never" : moment(token.last_used_at)}</td>
                  <td>
                    {token.grant === undefined ? "all that its children ask" : token.grant.join(", ") || "nothing"}
                  </td>
                  <td class="right">
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Revoke ${token.name}`}
                      onClick={() => (revoking.value = token)}
                    >
                      Revoke…
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrollable>
      )}
      <CreateCommand />
      {revoking.value && <RevokeDialog token={revoking.value} onClose={close} />}
    </section>
  );
}

/** A page can't create a token, which would outlive the page, so it shows the command. */
function CreateCommand() {
  const name = useSignal("");
  const isName = Name.safeParse(name.value).success;
  const command = `plexus token create ${isName ? (/^[\w.:@-]+$/.test(name.value) ? name.value : `'${name.value}'`) : "NAME"}`;
  return (
    <div class="create-token">
      <label for="token-name">Name of a new token</label>
      <input
        id="token-name"
        type="text"
        value={name}
        onInput={({ currentTarget }) => (name.value = currentTarget.value)}
      />
      <p class="command-line">
        <code>{command}</code>
        <CopyButton text={command} label="Copy the command" />
      </p>
      <p class="note">
        Type this where Plexus runs: it shows the token once. A page can't create tokens, since a token outlives the
        page's sign-in.
      </p>
    </div>
  );
}

function RevokeDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const { api } = usePage();
  const problem = useSignal("");
  const submit = async (event: Event) => {
    event.preventDefault();
    await api.call(revokeToken, { params: { name: token.name } }).then(onClose, (cause) => {
      problem.value = reasonOf(cause);
    });
  };
  return (
    <Dialog title={`Revoke ${token.name}?`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          Whoever uses it is refused from now on. Its pages are signed out, its queued turns are cancelled, its rules
          that allow something are removed, and no turn starts in its sessions any more. Turns that run go on, and what
          it has decided stays on record.
        </p>
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button danger">
            Revoke
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
