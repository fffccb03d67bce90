ALTER TABLE `turns` ADD `reading` text;--> statement-breakpoint
ALTER TABLE `turns` DROP COLUMN `output_offset`;