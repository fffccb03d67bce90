ALTER TABLE `sessions` ADD `next_config` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `own_cost_usd` real DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `sessions` SET `own_cost_usd` = CASE
	WHEN `id` IN (SELECT min(`id`) FROM `sessions` GROUP BY `tree_id`) THEN `total_cost_usd`
	ELSE coalesce((SELECT sum(json_extract(`usage`, '$.cost_usd')) FROM `turns` WHERE `turns`.`session_id` = `sessions`.`id`), 0)
END;
