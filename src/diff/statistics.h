/* statistics.h - quantiles for intervals.
 *
 *   const double z = normal_quantile(0.05 / 200);      3.66: two-sided, among 200 comparisons
 */
#ifndef DIFF_STATISTICS_H
#define DIFF_STATISTICS_H

/* The z beyond which, on both sides together, lies the probability `p` (above 0, up to 1). */
double normal_quantile(double p);

/* The same of Student's distribution with `freedom` degrees of freedom (10 or more), within 1 % of
 * the exact value.
 */
double student_quantile(double p, double freedom);

#endif
