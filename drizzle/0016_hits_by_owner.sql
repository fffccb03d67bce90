CREATE TABLE `__new_rule_hits` (
	`id` text NOT NULL,
	`owner` text DEFAULT '' NOT NULL,
	`hits` integer NOT NULL,
	`last_hit_at` integer NOT NULL,
	PRIMARY KEY(`id`, `owner`)
);
--> statement-breakpoint
INSERT INTO `__new_rule_hits`("id", "owner", "hits", "last_hit_at") SELECT "id", '', "hits", "last_hit_at" FROM `rule_hits`;--> statement-breakpoint
DROP TABLE `rule_hits`;--> statement-breakpoint
ALTER TABLE `__new_rule_hits` RENAME TO `rule_hits`;