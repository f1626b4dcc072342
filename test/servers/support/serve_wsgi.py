"""Serves a WSGI application on a free port of the loopback interface, with a thread per connection."""

from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class QuietHandler(WSGIRequestHandler):
    def log_request(self, *_):
        pass


def serve(application):
    server = make_server('127.0.0.1', 0, application, Server, QuietHandler)
    print(server.server_port, flush=True)
    server.serve_forever()
