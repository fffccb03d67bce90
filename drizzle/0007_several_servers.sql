CREATE TABLE `data_dir` (
	`id` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `servers` (
	`id` text PRIMARY KEY NOT NULL,
	`lease_until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `turn_queue` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `turns_queued`;--> statement-breakpoint
ALTER TABLE `turns` ADD `data_dir_id` text;--> statement-breakpoint
ALTER TABLE `turns` ADD `stop_reason` text;--> statement-breakpoint
CREATE INDEX `turns_in_slots` ON `turns` (`data_dir_id`,`is_borrowed`,`id`,`owner`,`session_id`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `turns_queued` ON `turns` (`owner`,`id`,`data_dir_id`) WHERE status = 'queued';--> statement-breakpoint
INSERT INTO `data_dir` (`id`) VALUES (lower(hex(randomblob(16))));--> statement-breakpoint
UPDATE `turns` SET `data_dir_id` = (SELECT `id` FROM `data_dir`) WHERE `status` IN ('running', 'queued');
