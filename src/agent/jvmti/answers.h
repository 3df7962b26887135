/* answers.h - what the agent's Agent_OnAttach returns to whoever attached it.
 *
 * Shared with src/attach/, and with agents of other versions of polyperf: numbers stay.
 */
#ifndef AGENT_JVMTI_ANSWERS_H
#define AGENT_JVMTI_ANSWERS_H

enum agent_answer {
	AGENT_STARTED = 0, /* or stopped, where that was asked for */
	/* HotSpot uses small negative numbers itself. */
	AGENT_BAD_OPTIONS = 101,
	AGENT_IS_RUNNING = 102, /* it tells already, as asked for earlier */
	AGENT_NOT_RUNNING = 103,
	AGENT_NO_DUMP = 104, /* the dump could not be made */
	AGENT_REFUSED = 105, /* the JVM lacks what the agent needs of it */
};

#endif
