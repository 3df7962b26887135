/* agent.h - one recording inside a JVM: JVMTI's events in, a dump out.
 *
 *   agent_start(vm, &options, false);    in Agent_OnLoad, or in Agent_OnAttach with true
 *   agent_stop();                        in Agent_OnUnload, or for the word `stop`
 *
 * There is one at a time in a process. Events come from several threads of the JVM, some
 * still under way when they are switched off; stopping waits for them. Nothing here ends,
 * or prints, or holds a lock while the JVM waits for it.
 */
#ifndef AGENT_JVMTI_AGENT_H
#define AGENT_JVMTI_AGENT_H

#include "agent/jvmti/answers.h"
#include "agent/jvmti/options.h"

#include <jvmti.h>

/* With `is_alive` the JVM runs already: what it has compiled until now is told as well. */
enum agent_answer agent_start(JavaVM *vm, const struct options *options, bool is_alive);

enum agent_answer agent_stop(void);

#endif
