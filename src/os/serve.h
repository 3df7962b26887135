/* serve.h - one document for browsers of this machine.
 *
 *   struct os_serve *serve;
 *   if (os_serve_open(&serve, 0) == 0)
 *           puts(os_serve_url(serve));              http://127.0.0.1:PORT/SECRET/
 *   os_serve_run(serve, document, stop_fd);
 *   os_serve_close(serve);
 *
 * HTTP/1.1 on the loopback address. The path has 128 random bits, so that other users of the
 * machine cannot guess it; a request whose Host is another name is refused, so that no page of a
 * server outside can read it by having its name point here. A connection gets one answer. One
 * thread.
 */
#ifndef OS_SERVE_H
#define OS_SERVE_H

#include "base/bytes.h"

#include <stdint.h>

struct os_serve;

/* port 0: any. 0 or a negative status, STATUS_IO with errno. */
int os_serve_open(struct os_serve **serve, uint16_t port);
const char *os_serve_url(const struct os_serve *serve);

/* Answers until stop_fd can be read. How often the document was given is returned, or STATUS_IO. */
int os_serve_run(struct os_serve *serve, struct bytes document, int stop_fd);
void os_serve_close(struct os_serve *serve);

#endif
