import { beforeAll, describe, expect, it, afterAll } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'

/** `send(bytes)` returns the answer of the socket, `post(path, body)` that of a request. */
const helpers = `
import http.client, json, os, socket, time
path = os.environ["PTC_TOOLS"]
def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(5)
    while True:
        try:
            client.connect(path)
            return client
        except BlockingIOError:
            time.sleep(0.001)
def send(data):
    with connect() as client:
        client.sendall(data)
        answer = b""
        try:
            while chunk := client.recv(65536):
                answer += chunk
        except OSError as problem:
            answer += repr(problem).encode()
        return answer.decode()
def post(target, body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"POST {target} HTTP/1.1\\r\\nConnection: close\\r\\nContent-Length: {len(data)}\\r\\n\\r\\n"
    return send(head.encode() + data)
`

/** A request in Python, and what its answer contains. */
const requests: Readonly<Record<string, readonly [code: string, answer: RegExp]>> = {
  'text that is not HTTP': [String.raw`send(b"hello\n")`, /^HTTP\/1.1 400 .*this socket speaks HTTP\/1.1/s],
  'zero bytes': [String.raw`send(b"\0\1\2\n")`, /^HTTP\/1.1 400 /],
  'HTTP 2': [String.raw`send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")`, /^HTTP\/1.1 400 /],
  'a line without end': [String.raw`send(b"GET /" + b"x" * 100_000)`, /^HTTP\/1.1 413 /],
  'headers without end': [String.raw`send(b"GET /health HTTP/1.1\r\n" + b"A: b\r\n" * 10_000)`, /^HTTP\/1.1 413 /],
  'a negative length': [
    String.raw`send(b"POST /tools/call HTTP/1.1\r\nContent-Length: -1\r\n\r\n")`,
    /^HTTP\/1.1 400 /,
  ],
  'a length of a terabyte': [
    String.raw`send(b"POST /tools/call HTTP/1.1\r\nContent-Length: 1000000000000\r\n\r\n")`,
    /^HTTP\/1.1 413 /,
  ],
  'chunks of wrong lengths': [
    String.raw`send(b"POST /tools/call HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")`,
    /^HTTP\/1.1 400 /,
  ],
  'an invalid URL': [String.raw`send(b"GET http://[::1 HTTP/1.1\r\nConnection: close\r\n\r\n")`, /^HTTP\/1.1 400 /],
  'another method': [String.raw`send(b"DELETE /tools/list HTTP/1.1\r\nConnection: close\r\n\r\n")`, /^HTTP\/1.1 405 /],
  'another path': [String.raw`send(b"GET /../etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n")`, /^HTTP\/1.1 404 /],
  'a body that is not JSON': [`post("/tools/call", b"\\xff\\xfe")`, /^HTTP\/1.1 400 /],
  'a body that is nested deeply': [`post("/tools/call", b"[" * 100_000)`, /^HTTP\/1.1 400 /],
  'a body of 20 MB': [`post("/tools/call", b" " * 20_000_000)`, /^HTTP\/1.1 413 /],
  'a name that is not a text': [`post("/tools/call", {"name": {}})`, /^HTTP\/1.1 400 /],
  'a name of a megabyte': [`post("/tools/call", {"name": "x" * 500_000})`, /^HTTP\/1.1 (?:404|413) /],
  'arguments that are no object': [`post("/tools/call", {"name": "get", "arguments": [1]})`, /^HTTP\/1.1 400 /],
  'words that are no texts': [`post("/tools/call", {"name": "get", "words": [1]})`, /^HTTP\/1.1 400 /],
  'an integer that loses digits': [
    `post("/tools/call", {"name": "get", "arguments": {"a": 2 ** 70}})`,
    /^HTTP\/1.1 400 .*would lose digits/s,
  ],
  'a sleep of no time': [`post("/sleep", {"seconds": -1})`, /^HTTP\/1.1 400 /],
  'a sleep for ever': [`post("/sleep", {"seconds": 1e300})`, /^HTTP\/1.1 400 /],
}

describeDocker('hostile clients of the socket for tools', () => {
  const backend = useDockerBackend()
  let session: SessionHarness
  beforeAll(async () => {
    session = await new SessionHarness(backend, {}, undefined, 'bash').open()
  })
  afterAll(() => session.close())

  const python = (code: string) => session.runCell(`python3 - <<'PYTHON'\n${helpers}${code}\nPYTHON`)

  describe('a request gets an error, makes no call, and the next one is served', () => {
    it.each(Object.entries(requests))('%s', async (_, [code, answer]) => {
      const { output, calls } = await python(`print(${code})`)
      expect(output).toMatch(answer)
      expect(calls).toEqual([])
      expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
    })
  })

  it('many open connections are refused, and the next ones are served when they are closed', async () => {
    const { output } = await python(`
clients = [connect() for _ in range(400)]
print(post("/tools/call", {"name": "get"})[:12])
for client in clients: client.close()
while post("/tools/call", {"name": "get"})[9:12] == "503": time.sleep(0.01)
print("served")`)
    expect(output).toBe('HTTP/1.1 503\nserved\n')
  })

  it('a client that goes away while its call is open leaves the other calls alone', async () => {
    const { output, calls } = await session.runCell(
      'tool get a=1 & gone=$!\ntool get a=2 & sleep 1\nkill -9 $gone 2>/dev/null\nwait\necho end',
    )
    expect(output).toMatch(/"2"[^]*end\n$/)
    expect(calls).toHaveLength(2)
  })

  it('requests one after another share a connection', async () => {
    const { output, calls } = await python(`
class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = connect()
connection = Connection("tools")
for a in (1, 2):
    connection.request("POST", "/tools/call", json.dumps({"name": "get", "arguments": {"a": a}}))
    answer = connection.getresponse()
    print(answer.status, json.loads(answer.read()))
connection.request("GET", "/tools/schema?name=get")
answer = connection.getresponse()
print(answer.getheader("Cache-Control"), json.loads(answer.read())["name"])`)
    expect(output).toBe("200 {'a': 1}\n200 {'a': 2}\nmax-age=300 get\n")
    expect(calls).toHaveLength(2)
  })

  it('a socket that code has removed is there again in the next cell', async () => {
    await session.runCell('rm "$PTC_TOOLS"')
    const { output } = await session.runCell('stat -c %a "$PTC_TOOLS"; tool get a=1')
    expect(output).toBe('600\n{"a": "1"}\n')
  })

  it('code that ends the dispatcher ends only its sandbox', async () => {
    const hostile = await new SessionHarness(backend, {}, undefined, 'bash').open()
    const { finalResult } = await hostile.runCell('kill -9 $PPID; /bin/sleep 60')
    expect(finalResult).toMatchObject({ type: 'lost' })
    await hostile.close()
    expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
  })
})
