ALTER TABLE `loopback_approvals` ADD `asker` text;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `input_cut_at` integer;--> statement-breakpoint
CREATE INDEX `approvals_large` ON `loopback_approvals` (`owner`,`resolved_at`,octet_length(input),octet_length(updated_input)) WHERE status <> 'pending' AND octet_length(input) + coalesce(octet_length(updated_input), 0) > 4096;--> statement-breakpoint
ALTER TABLE `sessions` ADD `servers_from` text;--> statement-breakpoint
UPDATE `sessions` SET `servers_from` = (SELECT `first`.`owner` FROM `sessions` `first` WHERE `first`.`tree_id` = `sessions`.`tree_id` ORDER BY `first`.`id` LIMIT 1) WHERE `tree_id` IS NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `is_borrowed` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `event_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `turns` SET `event_bytes` = coalesce((SELECT sum(octet_length(`event`)) FROM `turn_events` WHERE `turn_id` = `turns`.`id`), 0);--> statement-breakpoint
CREATE INDEX `turns_ended_of_owner` ON `turns` (`owner`,`ended_at`,`event_bytes`,`event_count`) WHERE status <> 'running' AND status <> 'queued';--> statement-breakpoint
CREATE INDEX `audit_of_the_chain` ON `audit` (`chain`,`seq`) WHERE approval_id IS NULL;