import { z } from "zod";
import { Statistics, StatisticsRange } from "../statistics.ts";
import { queryNumber } from "./declaration/query.ts";
import { route } from "./declaration/route.ts";

const StatisticsQuery = z.strictObject({
  range: StatisticsRange.default("24h"),
  /** The time zone for days, in minutes ahead of UTC; rounded to whole hours. */
  utc_offset_mins: queryNumber().int().min(-840).max(840).default(0),
});

export const getStatistics = route("GET", "/api/v1/statistics", { query: StatisticsQuery, answer: Statistics });
