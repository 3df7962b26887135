#include "agent/jvmti/java_name.h"
#include "test.h"

#include <stdlib.h>

static void expect(const char *class_signature, const char *method, const char *descriptor,
		   const char *wanted)
{
	struct sink name = { .limit = 2 * JAVA_NAME_LIMIT };
	java_name_put(&name, class_signature, method, descriptor);
	sink_u8(&name, 0);
	assert_false(sink_failed(&name));
	assert_string_equal(name.data, wanted);
	sink_clear(&name);
}

static void expect_text(const char *text, size_t size, const char *wanted)
{
	/* Exact size, so that a read behind it is seen. */
	char *copy = malloc(size ? size : 1);
	struct sink out = { 0 };
	assert_non_null(copy);
	memcpy(copy, text, size);
	java_name_put_text(&out, copy, size, 1000);
	sink_u8(&out, 0);
	assert_string_equal(out.data, wanted);
	sink_clear(&out);
	free(copy);
}

static void test_names_are_joined(void **state)
{
	(void)state;
	expect("LWork;", "alpha", "(II)I", "LWork;alpha(II)I");
	expect("Ljava/util/HashMap$Node;", "<init>", "()V", "Ljava/util/HashMap$Node;<init>()V");
	expect("[I", "clone", "()Ljava/lang/Object;", "[Iclone()Ljava/lang/Object;");
	expect("", "m", "", "m");
	expect(";", "m", "()V", ";m()V");
	expect("L;", "m", "()V", "L;m()V");
}

static void test_hidden_classes_have_stable_names(void **state)
{
	(void)state;
	expect("LMain$$Lambda$14.0x0000000800c01000;", "run", "()V", "LMain$$Lambda;run()V");
	expect("LMain$$Lambda.0x00007f3c00c01000;", "run", "()V", "LMain$$Lambda;run()V");
	expect("LMain$$Lambda$3/471910020;", "run", "()V", "LMain$$Lambda;run()V");
	expect("LMain$$Lambda$3/0x0000000800067840;", "run", "()V", "LMain$$Lambda;run()V");
	expect("Ljava/lang/invoke/LambdaForm$DMH.0x0000000800002000;", "invokeStatic", "()V",
	       "Ljava/lang/invoke/LambdaForm$DMH;invokeStatic()V");
	expect("La/B$Inner.0xff/0x1;", "m", "()V", "La/B$Inner.0xff;m()V");
}

static void test_names_that_only_look_hidden_stay(void **state)
{
	(void)state;
	expect("La/b/Beef;", "m", "()V", "La/b/Beef;m()V");
	expect("La/Class12;", "m", "()V", "La/Class12;m()V");
	expect("La/0xyz;", "m", "()V", "La/0xyz;m()V");
	expect("LMain$$Lambda$14;", "m", "()V", "LMain$$Lambda$14;m()V");
	expect("L0x12;", "m", "()V", "L0x12;m()V");
	expect("Lx12;", "m", "()V", "Lx12;m()V");
	expect("Lab;", "m", "()V", "Lab;m()V");
}

static void test_text_becomes_utf8(void **state)
{
	(void)state;
	expect_text("gr\xc3\xb6\xc3\x9f"
		    "e",
		    7,
		    "gr\xc3\xb6\xc3\x9f"
		    "e");
	expect_text("\xe4\xb8\xad", 3, "\xe4\xb8\xad");
	/* U+1F600 as two surrogates. */
	expect_text("\xed\xa0\xbd\xed\xb8\x80", 6, "\xf0\x9f\x98\x80");
	/* NUL in two bytes; half a pair; a lone tail; cut short. */
	expect_text("a\xc0\x80"
		    "b",
		    4,
		    "a\xef\xbf\xbd"
		    "b");
	expect_text("\xed\xa0\xbdx", 4, "\xef\xbf\xbdx");
	expect_text("\xed\xb8\x80", 3, "\xef\xbf\xbd");
	expect_text("\x80x", 2, "\xef\xbf\xbdx");
	expect_text("\xe4\xb8", 2, "\xef\xbf\xbd\xef\xbf\xbd");
	expect_text("\xff", 1, "\xef\xbf\xbd");
	expect_text("", 0, "");
	expect_text("a\nb", 3, "a\nb");
}

static void test_names_of_64_kb_are_cut(void **state)
{
	(void)state;
	enum { SIZE = 65535 };
	char *longest = malloc(SIZE + 1);
	struct sink name = { .limit = 2 * JAVA_NAME_LIMIT };
	assert_non_null(longest);
	memset(longest, 'x', SIZE);
	longest[0] = 'L';
	longest[SIZE - 1] = ';';
	longest[SIZE] = 0;
	java_name_put(&name, longest, longest, longest);
	assert_false(sink_failed(&name));
	assert_in_range(name.size, 5000, JAVA_NAME_LIMIT + 64);
	assert_non_null(memmem(name.data, name.size, "...;L", 5)); /* class, then method */
	sink_clear(&name);
	free(longest);
}

static void expect_file(const char *class_signature, const char *file, const char *wanted)
{
	struct sink out = { 0 };
	java_name_put_file(&out, class_signature, file);
	sink_u8(&out, 0);
	assert_string_equal(out.data, wanted);
	sink_clear(&out);
}

static void test_files_lie_in_their_package(void **state)
{
	(void)state;
	expect_file("Ljava/util/HashMap$Node;", "HashMap.java", "java/util/HashMap.java");
	expect_file("LWork;", "Work.java", "Work.java");
	expect_file("La/b/C;", "x/generated.java", "x/generated.java");
	expect_file("La/Main$$Lambda$1/471910020;", "Main.java", "a/Main.java");
	expect_file("LMain$$Lambda$1/471910020;", "Main.java", "Main.java");
	expect_file("[I", "X.java", "X.java");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_joined),
		cmocka_unit_test(test_hidden_classes_have_stable_names),
		cmocka_unit_test(test_names_that_only_look_hidden_stay),
		cmocka_unit_test(test_text_becomes_utf8),
		cmocka_unit_test(test_names_of_64_kb_are_cut),
		cmocka_unit_test(test_files_lie_in_their_package),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
