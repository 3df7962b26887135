#include "diff/statistics.h"

#include <math.h>

double normal_quantile(double p)
{
	double low = 0;
	double high = 40;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;
		if (erfc(middle / sqrt(2.0)) > p)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* z of the normal distribution to t, by the expansion of their ratio of densities to the first
 * order (Wallace 1959).
 */
double student_quantile(double p, double freedom)
{
	const double z = normal_quantile(p);
	const double c = (freedom - 1.5) / ((freedom - 1) * (freedom - 1));
	return sqrt(freedom * expm1(z * z * c));
}
