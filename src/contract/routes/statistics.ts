import { z } from "zod";
import { Statistics, StatisticsRange } from "../statistics.ts";
import { queryNumber } from "./declaration/query.ts";
import { route } from "./declaration/route.ts";

const StatisticsQuery = z.strictObject({
  range: StatisticsRange.default("24h"),
  /** Where days begin, as minutes ahead of UTC; counted in whole hours. */
  utc_offset_mins: queryNumber().int().min(-840).max(840).default(0),
});

export const getStatistics = route("GET", "/api/v1/statistics", { query: StatisticsQuery, answer: Statistics });
