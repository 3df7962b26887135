#include "os/serve.h"

#include "base/status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Browsers open connections before they need them, and leave them open. */
enum { CONNECTIONS = 32, REQUEST_SIZE = 8192, SECRET_BYTES = 16, SEND_SECONDS = 20 };

struct connection {
	int fd; /* -1: free */
	time_t since;
	size_t size;
	char request[REQUEST_SIZE];
};

struct os_serve {
	int fd;
	uint16_t port;
	char secret[SECRET_BYTES * 2 + 1];
	char url[64 + SECRET_BYTES * 2];
	struct connection connections[CONNECTIONS];
	int given;
};

static int make_secret(struct os_serve *serve)
{
	uint8_t bytes[SECRET_BYTES];
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return STATUS_IO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(serve->secret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int listen_on(struct os_serve *serve, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	serve->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve->fd < 0 || bind(serve->fd, (struct sockaddr *)&address, size) < 0 ||
	    listen(serve->fd, CONNECTIONS) < 0 ||
	    getsockname(serve->fd, (struct sockaddr *)&address, &size) < 0)
		return STATUS_IO;
	serve->port = ntohs(address.sin_port);
	(void)snprintf(serve->url, sizeof(serve->url), "http://127.0.0.1:%u/%s/", serve->port,
		       serve->secret);
	return 0;
}

int os_serve_open(struct os_serve **serve, uint16_t port)
{
	struct os_serve *made = calloc(1, sizeof(*made));
	*serve = NULL;
	if (!made)
		return STATUS_NO_MEMORY;
	made->fd = -1;
	for (size_t i = 0; i < CONNECTIONS; i++)
		made->connections[i].fd = -1;
	int got = make_secret(made);
	if (got == 0)
		got = listen_on(made, port);
	if (got == 0) {
		*serve = made;
		return 0;
	}
	const int why = errno;
	os_serve_close(made);
	errno = why;
	return got;
}

const char *os_serve_url(const struct os_serve *serve)
{
	return serve->url;
}

static void drop(struct connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void os_serve_close(struct os_serve *serve)
{
	if (!serve)
		return;
	for (size_t i = 0; i < CONNECTIONS; i++)
		drop(&serve->connections[i]);
	if (serve->fd >= 0)
		close(serve->fd);
	free(serve);
}

static bool send_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;
	while (size) {
		const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool answer(const struct connection *c, const char *status, struct bytes body, bool has_body)
{
	char head[512];
	const int size =
	    snprintf(head, sizeof(head),
		     "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
		     "Content-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
		     "Content-Security-Policy: frame-ancestors 'none'\r\n"
		     "Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n"
		     "X-Content-Type-Options: nosniff\r\n\r\n",
		     status, body.size);
	return size > 0 && send_all(c->fd, head, (size_t)size) &&
	       (!has_body || send_all(c->fd, body.data, body.size));
}

/* The value of the header `Host`, without blanks around it; NULL where there is not exactly one. */
static const char *host_of(char *lines)
{
	const char *host = NULL;
	char *rest = lines;
	for (char *line; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		if (strncasecmp(line, "host:", 5) != 0)
			continue;
		if (host)
			return NULL;
		host = line + 5 + strspn(line + 5, " \t");
	}
	return host;
}

static bool is_our_host(const struct os_serve *serve, const char *host)
{
	char ours[64];
	(void)snprintf(ours, sizeof(ours), "127.0.0.1:%u", serve->port);
	if (strcmp(host, ours) == 0)
		return true;
	(void)snprintf(ours, sizeof(ours), "localhost:%u", serve->port);
	return strcmp(host, ours) == 0;
}

/* `request` is whole up to its empty line, and ended by a NUL. */
static void serve_request(struct os_serve *serve, struct connection *c, struct bytes document)
{
	const struct bytes none = { 0 };
	char *rest = c->request;
	char *line = strsep(&rest, "\n");
	const char *method = strsep(&line, " ");
	const char *path = line ? strsep(&line, " ?") : NULL;
	const char *host = rest ? host_of(rest) : NULL;
	const bool is_head = strcmp(method, "HEAD") == 0;
	char ours[SECRET_BYTES * 2 + 3];
	(void)snprintf(ours, sizeof(ours), "/%s/", serve->secret);
	if (!path || !host || !line)
		(void)answer(c, "400 Bad Request", none, false);
	else if (!is_our_host(serve, host))
		(void)answer(c, "403 Forbidden", none, false);
	else if (strcmp(path, ours) != 0)
		(void)answer(c, "404 Not Found", none, false);
	else if (!is_head && strcmp(method, "GET") != 0)
		(void)answer(c, "405 Method Not Allowed", none, false);
	else if (answer(c, "200 OK", document, !is_head) && !is_head)
		serve->given++;
}

static void receive(struct os_serve *serve, struct connection *c, struct bytes document)
{
	const ssize_t got =
	    recv(c->fd, c->request + c->size, REQUEST_SIZE - 1 - c->size, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		c->size += (size_t)got;
		c->request[c->size] = '\0';
		const bool is_whole = memmem(c->request, c->size, "\r\n\r\n", 4);
		if (!is_whole && c->size < REQUEST_SIZE - 1)
			return;
		if (is_whole && !memchr(c->request, '\0', c->size))
			serve_request(serve, c, document);
		else
			(void)answer(c, "400 Bad Request", (struct bytes){ 0 }, false);
	}
	drop(c);
}

/* The oldest goes where there is no room. */
static void take(struct os_serve *serve)
{
	const struct timeval limit = { .tv_sec = SEND_SECONDS };
	const int fd = accept4(serve->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	struct connection *oldest = &serve->connections[0];
	for (size_t i = 0; i < CONNECTIONS && oldest->fd >= 0; i++) {
		struct connection *c = &serve->connections[i];
		if (c->fd < 0 || c->since < oldest->since)
			oldest = c;
	}
	drop(oldest);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	oldest->fd = fd;
	oldest->size = 0;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	oldest->since = now.tv_sec;
}

int os_serve_run(struct os_serve *serve, struct bytes document, int stop_fd)
{
	serve->given = 0;
	for (;;) {
		struct pollfd polled[CONNECTIONS + 2] = { { .fd = stop_fd, .events = POLLIN },
							  { .fd = serve->fd, .events = POLLIN } };
		for (size_t i = 0; i < CONNECTIONS; i++)
			polled[i + 2] =
			    (struct pollfd){ .fd = serve->connections[i].fd, .events = POLLIN };
		if (poll(polled, CONNECTIONS + 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return STATUS_IO;
		}
		if (polled[0].revents)
			return serve->given;
		for (size_t i = 0; i < CONNECTIONS; i++)
			if (polled[i + 2].revents)
				receive(serve, &serve->connections[i], document);
		if (polled[1].revents)
			take(serve);
	}
}
