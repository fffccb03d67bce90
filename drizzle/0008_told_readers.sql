CREATE TABLE `readers` (
	`owner` text NOT NULL,
	`consumer` text NOT NULL,
	`session_id` text NOT NULL,
	`position` integer NOT NULL,
	`used_at` integer NOT NULL,
	PRIMARY KEY(`owner`, `consumer`, `session_id`)
);
--> statement-breakpoint
CREATE INDEX `readers_used` ON `readers` (`used_at`);--> statement-breakpoint
ALTER TABLE `sessions` ADD `seen_at` integer;--> statement-breakpoint
CREATE INDEX `sessions_by_hand` ON `sessions` (`seen_at`) WHERE kind = 'by_hand';--> statement-breakpoint
ALTER TABLE `turns` ADD `allowed` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `denied` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `timed_out` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `abandoned` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `builtin` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `turns` ADD `spoke_at` integer;--> statement-breakpoint
CREATE INDEX `changes_turn_ended_of_owner` ON `changes` (`owner`,`id`) WHERE kind = 'turn_ended';--> statement-breakpoint
CREATE INDEX `changes_turn_ended_of_session` ON `changes` (`session_id`,`id`) WHERE kind = 'turn_ended';
--> statement-breakpoint
INSERT INTO `readers` (`owner`, `consumer`, `session_id`, `position`, `used_at`) SELECT '', '', '', coalesce(max(`id`), 0), 9007199254740991 FROM `changes`;--> statement-breakpoint
UPDATE `sessions` SET `seen_at` = unixepoch() * 1000 WHERE `kind` = 'by_hand';--> statement-breakpoint
UPDATE `turns` SET `spoke_at` = unixepoch() * 1000 WHERE `status` = 'running';--> statement-breakpoint
UPDATE `turns` SET `allowed` = `asked`.`allowed`, `denied` = `asked`.`denied`, `timed_out` = `asked`.`timed_out`, `abandoned` = `asked`.`abandoned`, `builtin` = `asked`.`builtin` FROM (SELECT `asked_in`, sum(`is_builtin` = 0 AND `status` = 'allowed') AS `allowed`, sum(`is_builtin` = 0 AND `status` = 'denied') AS `denied`, sum(`status` = 'timed_out') AS `timed_out`, sum(`status` = 'abandoned') AS `abandoned`, sum(`is_builtin`) AS `builtin` FROM `loopback_approvals` WHERE `asked_in` IN (SELECT `id` FROM `turns` WHERE `status` = 'running') GROUP BY `asked_in`) AS `asked` WHERE `asked`.`asked_in` = `turns`.`id`;
