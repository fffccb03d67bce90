ALTER TABLE `turns` ADD `prompt` text;--> statement-breakpoint
ALTER TABLE `turns` ADD `is_accounted` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `turns_queued` ON `turns` (`owner`,`id`) WHERE status = 'queued';