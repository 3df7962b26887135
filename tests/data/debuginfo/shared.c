/* Two objects are made of this; what they have in common dwz moves into a file of its own. */
struct shared_record_with_a_long_name {
	int first_member_of_the_record;
	int second_member_of_the_record;
	struct shared_record_with_a_long_name *next_record_in_the_list;
};

static inline __attribute__((always_inline)) int
inlined_function_with_a_long_name(const struct shared_record_with_a_long_name *record)
{
	return record->first_member_of_the_record * 3 + record->second_member_of_the_record % 7;
}

#define JOIN(a, b) a##b
#define NAME(part) JOIN(entry_of_, part)
int NAME(PART)(const struct shared_record_with_a_long_name *record);
int NAME(PART)(const struct shared_record_with_a_long_name *record)
{
	int sum = 0;
	for (; record; record = record->next_record_in_the_list)
		sum += inlined_function_with_a_long_name(record);
	return sum;
}
