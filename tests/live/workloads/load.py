"""Serves a WSGI application on localhost and asks it for pages, in threads of this process."""
import http.client
import socketserver
import threading
import time
import wsgiref.simple_server


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


class Handler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


def ask(port, pages, end, counts):
    while time.monotonic() < end:
        for page in pages:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", page)
            connection.getresponse().read()
            connection.close()
            counts.append(1)


def run(application, pages, log, seconds):
    server = wsgiref.simple_server.make_server("127.0.0.1", 0, application, server_class=Server, handler_class=Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    counts = []
    begin = time.monotonic_ns()
    clients = [threading.Thread(target=ask, args=(server.server_port, pages, time.monotonic() + seconds, counts))
               for _ in range(3)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    end = time.monotonic_ns()
    server.shutdown()
    with open(log, "w") as out:
        out.write(f"{begin} {end} {len(counts)}\n")
