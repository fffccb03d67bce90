import { useUser } from "../context.ts";
import { DenyDialog } from "./deny-dialog.tsx";
import { EditDialog } from "./edit-dialog.tsx";
import { RememberDialog } from "./remember-dialog.tsx";

/** The dialog that is open over the card. */
export function DecisionDialogs() {
  switch (useUser().deciding.dialog.value) {
    case "none":
      return null;
    case "deny":
      return <DenyDialog />;
    case "edit":
      return <EditDialog />;
    case "remember":
      return <RememberDialog />;
  }
}
