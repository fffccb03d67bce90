import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/storage/tables.ts", out: "./drizzle" });
