import { AuditLine, AuditReport } from "../audit.ts";
import { route } from "./declaration/route.ts";

export const verifyAudit = route("GET", "/api/v1/audit/verify", { answer: AuditReport });
export const exportAudit = route("GET", "/api/v1/audit/export", { lines: AuditLine });
