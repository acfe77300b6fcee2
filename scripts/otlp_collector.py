"""A collector of traces for the tests: takes OTLP/HTTP in JSON and refuses whatever OpenTelemetry's own definitions do not
allow. It prints where it listens, then each request it took as one line of JSON, in the names of those definitions.

Those definitions (the package opentelemetry-proto) know protobuf's JSON, in which bytes are base64; OTLP writes ids in
hexadecimal instead, so these are turned before they are read, and turned back before they are printed.
"""

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def spans(request):
    for resource in request.get("resourceSpans", []):
        for scope in resource.get("scopeSpans", []):
            yield from scope.get("spans", [])


def read(body):
    request = json.loads(body)
    for span in spans(request):
        for name, length in IDS.items():
            if name == "parentSpanId" and name not in span:
                continue
            bits = bytes.fromhex(span[name])
            if len(bits) != length or not any(bits) or span[name] != span[name].lower():
                raise ValueError(f"{name} is no id: {span[name]!r}")
            span[name] = base64.b64encode(bits).decode()
    message = json_format.ParseDict(request, ExportTraceServiceRequest(), ignore_unknown_fields=False)
    told = json_format.MessageToDict(message)
    for span in spans(told):
        if int(span["startTimeUnixNano"]) > int(span["endTimeUnixNano"]):
            raise ValueError(f"{span['name']!r} ends before it begins")
        for name in IDS:
            if name in span:
                span[name] = base64.b64decode(span[name]).hex()
    return told


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            if (self.path, self.headers["content-type"]) != ("/v1/traces", "application/json"):
                raise ValueError(f"{self.path} with {self.headers['content-type']}")
            told, status = read(body), 200
            print("TOOK", json.dumps(told), flush=True)
        except Exception as error:  # whatever is wrong with it, whoever sent it is told
            status = 400
            print("REFUSED", repr(error), flush=True)
        answer = b"{}"
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
    sys.exit(server.serve_forever())
