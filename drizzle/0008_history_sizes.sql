DROP INDEX `approvals_large`;--> statement-breakpoint
CREATE INDEX `approvals_large` ON `loopback_approvals` (`owner`,`resolved_at`,octet_length(input),octet_length(updated_input)) WHERE status <> 'pending' AND octet_length(input) + coalesce(octet_length(updated_input), 0) > 4096;--> statement-breakpoint
ALTER TABLE `turns` ADD `event_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `turns_ended_of_owner` ON `turns` (`owner`,`ended_at`,`event_bytes`,`event_count`) WHERE status <> 'running' AND status <> 'queued';