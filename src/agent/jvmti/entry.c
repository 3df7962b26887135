/* entry.c - how the JVM comes in. It is never refused to start on our account. */
#include "agent/jvmti/agent.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Only what the user wrote wrongly, and where only standard error is left to say it. */
static void complain(const char *what, const char *word)
{
	char line[256];
	const int size = snprintf(line, sizeof(line), "polyperf-jvmti: %s%.*s\n", what,
				  (int)strcspn(word, ","), word);
	if (size > 0 && (size_t)size < sizeof(line))
		(void)!write(STDERR_FILENO, line, (size_t)size);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	struct options options;
	const char *wrong;
	(void)reserved;
	if (!options_parse(&options, text, &wrong)) {
		complain("nothing is recorded: option not understood: ", wrong);
		return JNI_OK;
	}
	switch (options.stop ? AGENT_NOT_RUNNING : agent_start(vm, &options, false)) {
	case AGENT_NO_DUMP:
		complain("nothing is recorded: no dump can be made in ", options.directory);
		break;
	case AGENT_REFUSED:
		complain("nothing is recorded: this JVM does not tell of its code", "");
		break;
	default:
		break;
	}
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
	struct options options;
	const char *wrong;
	(void)reserved;
	if (!options_parse(&options, text, &wrong))
		return AGENT_BAD_OPTIONS;
	return (jint)(options.stop ? agent_stop() : agent_start(vm, &options, true));
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	(void)agent_stop();
}
