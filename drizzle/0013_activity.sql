CREATE TABLE `activity_hours` (
	`hour` integer NOT NULL,
	`session_id` text NOT NULL,
	`by` text NOT NULL,
	`outcome` text NOT NULL,
	`wait_step` integer NOT NULL,
	`owner` text NOT NULL,
	`session_name` text NOT NULL,
	`count` integer NOT NULL,
	`cost_usd` real NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	PRIMARY KEY(`hour`, `session_id`, `by`, `outcome`, `wait_step`)
);
--> statement-breakpoint
ALTER TABLE `sessions` ADD `origin_id` text;--> statement-breakpoint
CREATE INDEX `sessions_budget` ON `sessions` (own_cost_usd / (config ->> 'max_budget_usd')) WHERE (config ->> 'max_budget_usd') > 0;--> statement-breakpoint
ALTER TABLE `tokens` ADD `used_at` integer;
--> statement-breakpoint
INSERT INTO `activity_hours` SELECT
	`resolved_at` / 3600000,
	`session_id`,
	CASE
		WHEN `resolved_by` LIKE 'rule:%' THEN 'rule'
		WHEN `resolved_by` LIKE 'builtin:%' THEN 'builtin'
		WHEN `resolved_by` LIKE 'session:%' THEN 'session'
		ELSE coalesce(`resolved_by`, 'plexus')
	END,
	`status`,
	CASE
		WHEN `resolved_at` - `created_at` < 100 THEN 0
		ELSE min(72, 1 + CAST(ln((`resolved_at` - `created_at`) / 100.0) / ln(1.25) AS integer))
	END,
	max(`owner`), max(`session_name`), count(*), 0, 0, 0
FROM `loopback_approvals` WHERE `status` <> 'pending' AND `resolved_at` IS NOT NULL GROUP BY 1, 2, 3, 4, 5;
--> statement-breakpoint
INSERT INTO `activity_hours` SELECT
	t.`ended_at` / 3600000, t.`session_id`, '', t.`status`, 0, max(t.`owner`), max(s.`name`), count(*),
	sum(coalesce(t.`usage` ->> 'cost_usd', 0)),
	sum(coalesce(t.`usage` ->> 'input_tokens', 0)),
	sum(coalesce(t.`usage` ->> 'output_tokens', 0))
FROM `turns` t JOIN `sessions` s ON s.`id` = t.`session_id`
WHERE t.`status` IN ('complete', 'failed', 'cancelled') AND t.`ended_at` IS NOT NULL AND t.`event_count` > 0 GROUP BY 1, 2, 4;
