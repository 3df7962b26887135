/* One document over HTTP, asked for as browsers do, and as nobody should. */
#include "os/serve.h"

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char page[] = "<!DOCTYPE html>a page\n";

struct running {
	struct os_serve *serve;
	pthread_t thread;
	int stop[2];
	int given;
	uint16_t port;
	char path[128];
};

static void *run(void *context)
{
	struct running *r = context;
	r->given = os_serve_run(r->serve, (struct bytes){ (const uint8_t *)page, strlen(page) },
				r->stop[0]);
	return NULL;
}

static void start(struct running *r)
{
	unsigned port;
	assert_int_equal(os_serve_open(&r->serve, 0), 0);
	assert_int_equal(sscanf(os_serve_url(r->serve), "http://127.0.0.1:%u%127s", &port, r->path),
			 2);
	r->port = (uint16_t)port;
	assert_int_equal(pipe(r->stop), 0);
	assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
}

/* How often the document was given. */
static int stop(struct running *r)
{
	assert_int_equal(write(r->stop[1], "", 1), 1);
	assert_int_equal(pthread_join(r->thread, NULL), 0);
	os_serve_close(r->serve);
	close(r->stop[0]);
	close(r->stop[1]);
	return r->given;
}

static int connect_to(const struct running *r)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons(r->port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* What comes back; "" where the connection is closed without a word. */
static const char *ask_bytes(const struct running *r, const char *request, size_t size)
{
	static char reply[4096];
	size_t got = 0;
	const int fd = connect_to(r);
	assert_int_equal(send(fd, request, size, MSG_NOSIGNAL), (ssize_t)size);
	for (ssize_t n; (n = recv(fd, reply + got, sizeof(reply) - 1 - got, 0)) > 0;)
		got += (size_t)n;
	reply[got] = '\0';
	close(fd);
	return reply;
}

static const char *ask(const struct running *r, const char *method, const char *path,
		       const char *headers)
{
	char request[2048];
	const int size =
	    snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\n%s\r\n", method, path, headers);
	return ask_bytes(r, request, (size_t)size);
}

static const char *host(const struct running *r, const char *name)
{
	static char line[128];
	(void)snprintf(line, sizeof(line), "Host: %s:%u\r\n", name, r->port);
	return line;
}

#define assert_status(reply, status) assert_memory_equal(reply, "HTTP/1.1 " status, 12)

static void test_gives_the_document(void **state)
{
	(void)state;
	struct running r = { 0 };
	start(&r);
	const char *reply = ask(&r, "GET", r.path, host(&r, "127.0.0.1"));
	assert_status(reply, "200");
	assert_non_null(strstr(reply, "\r\nContent-Type: text/html; charset=utf-8\r\n"));
	assert_non_null(strstr(reply, "frame-ancestors 'none'"));
	assert_string_equal(strstr(reply, "\r\n\r\n") + 4, page);
	assert_status(ask(&r, "GET", r.path, host(&r, "localhost")), "200");
	reply = ask(&r, "HEAD", r.path, host(&r, "127.0.0.1"));
	assert_status(reply, "200");
	assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");
	assert_int_equal(stop(&r), 2);
}

static void test_two_have_other_secrets(void **state)
{
	(void)state;
	struct os_serve *a;
	struct os_serve *b;
	assert_int_equal(os_serve_open(&a, 0), 0);
	assert_int_equal(os_serve_open(&b, 0), 0);
	assert_string_not_equal(strchr(os_serve_url(a) + 7, '/'), strchr(os_serve_url(b) + 7, '/'));
	assert_int_equal(strlen(strchr(os_serve_url(a) + 7, '/')), 34);
	os_serve_close(a);
	os_serve_close(b);
	os_serve_close(NULL);
}

static void test_refuses(void **state)
{
	(void)state;
	struct running r = { 0 };
	start(&r);
	char two[256];
	(void)snprintf(two, sizeof(two), "%s%s", host(&r, "127.0.0.1"), host(&r, "localhost"));
	r.path[1] ^= 1; /* a secret that is nearly right */
	assert_status(ask(&r, "GET", r.path, host(&r, "127.0.0.1")), "404");
	r.path[1] ^= 1;
	assert_status(ask(&r, "GET", "/", host(&r, "127.0.0.1")), "404");
	assert_status(ask(&r, "GET", "/favicon.ico", host(&r, "127.0.0.1")), "404");
	assert_status(ask(&r, "GET", r.path, host(&r, "evil.example")), "403");
	assert_status(ask(&r, "GET", r.path, "Host: 127.0.0.1\r\n"), "403");
	assert_status(ask(&r, "GET", r.path, ""), "400");
	assert_status(ask(&r, "GET", r.path, two), "400");
	assert_status(ask(&r, "POST", r.path, host(&r, "127.0.0.1")), "405");
	assert_status(ask_bytes(&r, "\r\n\r\n", 4), "400");
	assert_status(ask_bytes(&r, "GET\r\n\r\n", 7), "400");
	assert_status(ask_bytes(&r, "G\0T / HTTP/1.1\r\n\r\n", 18), "400");
	assert_int_equal(stop(&r), 0);
}

static void test_refuses_what_is_too_long(void **state)
{
	(void)state;
	struct running r = { 0 };
	start(&r);
	char *request = malloc(8191);
	assert_non_null(request);
	memset(request, 'x', 8191);
	assert_status(ask_bytes(&r, request, 8191), "400");
	free(request);
	assert_int_equal(stop(&r), 0);
}

/* Browsers connect ahead of what they ask. */
static void test_silent_connections_hinder_nobody(void **state)
{
	(void)state;
	struct running r = { 0 };
	int silent[40];
	start(&r);
	for (size_t i = 0; i < 40; i++)
		silent[i] = connect_to(&r);
	assert_status(ask(&r, "GET", r.path, host(&r, "127.0.0.1")), "200");
	for (size_t i = 0; i < 40; i++)
		close(silent[i]);
	assert_status(ask(&r, "GET", r.path, host(&r, "127.0.0.1")), "200");
	assert_int_equal(stop(&r), 2);
}

static void test_takes_requests_in_pieces(void **state)
{
	(void)state;
	struct running r = { 0 };
	char request[512];
	char reply[64] = "";
	start(&r);
	const int size = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n%s\r\n", r.path,
				  host(&r, "127.0.0.1"));
	const int fd = connect_to(&r);
	for (int i = 0; i < size; i++)
		assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
	assert_true(recv(fd, reply, sizeof(reply) - 1, MSG_WAITALL) > 12);
	assert_status(reply, "200");
	close(fd);
	(void)stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gives_the_document),
		cmocka_unit_test(test_two_have_other_secrets),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_refuses_what_is_too_long),
		cmocka_unit_test(test_silent_connections_hinder_nobody),
		cmocka_unit_test(test_takes_requests_in_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
