ALTER TABLE `turns` ADD `prompt` text;--> statement-breakpoint
CREATE INDEX `turns_queued` ON `turns` (`owner`,`id`) WHERE status = 'queued';