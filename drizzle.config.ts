import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/storage/sqlite/tables.ts", out: "./drizzle" });
