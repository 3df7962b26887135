#include "record/doctor.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_whole(const struct doctor *doctor)
{
	bool is_refused = false;
	assert_true(doctor->findings.count > 10);
	for (size_t i = 0; i < doctor->findings.count; i++) {
		const struct doctor_finding *finding = &doctor->findings.items[i];
		assert_true(*finding->name && *finding->text);
		assert_true(finding->verdict != DOCTOR_OK || !*finding->try);
		is_refused |= finding->verdict == DOCTOR_REFUSED;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(doctor->findings.items[k].name, finding->name);
	}
	assert_true(doctor->can_record == !is_refused);
	for (size_t i = 0; i < doctor->runtime_count; i++)
		assert_true(*doctor->runtimes[i].runtime && *doctor->runtimes[i].how &&
			    doctor->runtimes[i].path[0] == '/');
}

static void test_every_finding_is_whole(void **state)
{
	(void)state;
	struct doctor doctor;
	assert_int_equal(doctor_examine(&doctor), 0);
	expect_whole(&doctor);
	doctor_clear(&doctor);
}

static const struct doctor_finding *find(const struct doctor *doctor, const char *name)
{
	for (size_t i = 0; i < doctor->findings.count; i++)
		if (strcmp(doctor->findings.items[i].name, name) == 0)
			return &doctor->findings.items[i];
	return NULL;
}

/* As a user without privileges: what the kernel closes to them comes with the way out. */
static int examine_as_nobody(void)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		return 2;
	struct doctor doctor;
	if (doctor_examine(&doctor) < 0)
		return 3;
	const struct doctor_finding *all = find(&doctor, "all processes");
	const struct doctor_finding *bpf = find(&doctor, "bpf");
	const bool is_right = all && bpf && bpf->verdict == DOCTOR_LIMITED && *bpf->try &&
			      (all->verdict == DOCTOR_OK || strstr(all->try, "sysctl"));
	doctor_clear(&doctor);
	return is_right ? 0 : 1;
}

static void test_users_are_told_the_way_out(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip_because("needs root");
	const pid_t child = fork();
	if (child == 0)
		_exit(examine_as_nobody());
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_finding_is_whole),
		cmocka_unit_test(test_users_are_told_the_way_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
