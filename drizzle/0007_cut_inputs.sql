ALTER TABLE `loopback_approvals` ADD `input_cut_at` integer;--> statement-breakpoint
CREATE INDEX `approvals_large` ON `loopback_approvals` (`owner`,`resolved_at`) WHERE octet_length(input) > 4096 AND status <> 'pending' AND input_cut_at IS NULL;--> statement-breakpoint
CREATE INDEX `audit_of_the_chain` ON `audit` (`chain`,`seq`) WHERE approval_id IS NULL;