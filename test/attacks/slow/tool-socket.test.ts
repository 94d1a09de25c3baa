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

  describe('S01 a request gets an error, makes no call, and the next one is served', () => {
    it.each(Object.entries(requests))('%s', async (_, [code, answer]) => {
      const { output, calls } = await python(`print(${code})`)
      expect(output).toMatch(answer)
      expect(calls).toEqual([])
      expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
    })
  })

  it('S02 many open connections are refused, and the next ones are served when they are closed', async () => {
    const { output } = await python(`
clients = [connect() for _ in range(400)]
print(post("/tools/call", {"name": "get"})[:12])
for client in clients: client.close()
while post("/tools/call", {"name": "get"})[9:12] == "503": time.sleep(0.01)
print("served")`)
    expect(output).toBe('HTTP/1.1 503\nserved\n')
  })

  it('S02 a flood of calls ends at the limit of calls, and the next cell is served', async () => {
    const { finalResult, calls } = await python(`
import threading
def flood():
    while True: post("/tools/call", {"name": "get", "arguments": {"a": 1}})
threads = [threading.Thread(target=flood) for _ in range(50)]
for thread in threads: thread.start()`)
    expect(finalResult).toMatchObject({ type: 'failed', kind: 'limit_exceeded' })
    expect(calls.length).toBeLessThanOrEqual(session.limits.callsPerCell)
    expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
  })

  it('S02 clients that send nothing, or read nothing, delay no other client', async () => {
    const { output } = await python(`
idle = [connect() for _ in range(100)]
for client in idle[:50]: client.sendall(b"POST /tools/call HTTP/1.1\\r\\nContent-Length: 1000\\r\\n\\r\\n{")
unread = connect()
unread.sendall(b"GET /tools/list HTTP/1.1\\r\\n\\r\\n" * 5)
print(post("/tools/call", {"name": "get", "arguments": {"a": 1}})[9:12])`)
    expect(output).toBe('200\n')
  })

  it('S03 a result goes to the process that has made the call', async () => {
    const { output, calls } = await session.runCell(
      'for i in 1 2 3; do (tool get a=$i >own-$i) & done; wait; cat own-1 own-2 own-3',
    )
    expect(output).toBe('{"a": "1"}\n{"a": "2"}\n{"a": "3"}\n')
    expect(calls).toHaveLength(3)
  })

  it('S03 a process that has left its session and its parent calls within its cell only', async () => {
    await session.runCell("(setsid bash -c 'while :; do tool get a=late; done' >/dev/null 2>&1 &) ; tool get a=1")
    const { calls } = await session.runCell('/bin/sleep 0.5; tool get a=2')
    expect(calls.map(({ arguments: input }) => input)).toEqual([{ a: '2' }])
  })

  it('S04 a forged result reaches who asks the forger, and is in no record', async () => {
    const { output, calls } = await session.runCell(`
cat >forger.py <<'PYTHON'
import socket
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/forger.sock")
server.listen()
open("/tmp/ready", "w").close()
client, _ = server.accept()
client.recv(65536)
body = b'{"a": "forged"}\\n'
client.sendall(b"HTTP/1.1 200 OK\\r\\nExit-Code: 0\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
PYTHON
python3 forger.py &
until [ -e /tmp/ready ]; do /bin/sleep 0.01; done
PTC_TOOLS=/tmp/forger.sock tool get a=1
tool get a=2`)
    expect(output).toBe('{"a": "forged"}\n{"a": "2"}\n')
    expect(calls.map(({ arguments: input }) => input)).toEqual([{ a: '2' }])
  })

  it.each([
    ['ends in its head', 'HTTP/1.1 200 OK'],
    ['is shorter than it says', 'HTTP/1.1 200 OK\\r\\nExit-Code: 0\\r\\nContent-Length: 10\\r\\n\\r\\n{}'],
    ['is no HTTP', 'hello'],
    ['has no length', 'HTTP/1.1 200 OK\\r\\nExit-Code: 0\\r\\n\\r\\n{}'],
  ])('S04 an answer of a forger that %s is no result', async (_, answer) => {
    const { output, calls } = await session.runCell(`
rm -f /tmp/forger.sock
python3 -c "
import socket
server = socket.socket(socket.AF_UNIX)
server.bind('/tmp/forger.sock')
server.listen()
client, _ = server.accept()
client.recv(65536)
client.sendall(b'${answer}')
client.close()" &
until [ -e /tmp/forger.sock ]; do /bin/sleep 0.01; done
PTC_TOOLS=/tmp/forger.sock tool get a=1 2>/dev/null; echo $?`)
    expect(output).toBe('69\n')
    expect(calls).toEqual([])
  })

  it('S05 the socket is for its user only, and its folder, too', async () => {
    const { output } = await session.runCell(
      'stat -c "%a %u" "$PTC_TOOLS" "${PTC_TOOLS%/*}/bash"; id -u; PTC_TOOLS=$(printf %0200d 0) tool get a=1; echo $?',
    )
    const [socket = '', folder = '', user = '', message, code] = output.trimEnd().split('\n')
    expect([socket, folder]).toEqual([`600 ${user}`, `700 ${user}`])
    expect([message, code]).toEqual(["tool: tools can't be called here: there is no dispatcher", '69'])
  })

  /** Words of the command line, and what a call has. */
  const words: Readonly<Record<string, readonly [command: string, expected: object]>> = {
    'quotes and braces in a value': [
      `tool get a='"}, "name": "rent", "arguments": {"from": "x'`,
      { tool: 'get', arguments: { a: '"}, "name": "rent", "arguments": {"from": "x' } },
    ],
    'line breaks and controls in a value': [
      String.raw`tool get a=$'x\r\nHost: evil\t\x01\x7f\\'`,
      { tool: 'get', arguments: { a: 'x\r\nHost: evil\t\x01\x7f\\' } },
    ],
    'an option as a value': ['tool get a=--help', { tool: 'get', arguments: { a: '--help' } }],
    'a value that looks like JSON': [`tool get a='{"b": 1}'`, { tool: 'get', arguments: { a: '{"b": 1}' } }],
    'a value that looks like another argument': [`tool get "a=1 b=2"`, { tool: 'get', arguments: { a: '1 b=2' } }],
    'an equals sign in a value': ['tool get a=b=c:=d', { tool: 'get', arguments: { a: 'b=c:=d' } }],
    'a member that JSON of stdin has beside its own': [
      `tool get - <<<'{"a": {"name": "rent", "arguments": {"from": 1}}}'`,
      { tool: 'get', arguments: { a: { name: 'rent', arguments: { from: 1 } } } },
    ],
    'halves of characters on stdin': [
      String.raw`tool get - <<<'{"a": "\ud800x"}'`,
      { tool: 'get', arguments: { a: '\ud800x' } },
    ],
  }

  it.each(Object.entries(words))('T01 %s is data of the call', async (_, [command, expected]) => {
    const { calls } = await session.runCell(command)
    expect(calls).toMatchObject([expected])
  })

  it.each([
    ['ends the arguments', `'{"a": 1}, "name": "rent", "arguments": {"from": 1}'`],
    ['ends the body', `'{"a": 1}} {"name": "rent"'`],
    ['is empty text', `''`],
    ['is no JSON', `'a=1'`],
    ['is a list', `'[1]'`],
    ['is no UTF-8', String.raw`$'{"a": "\xff\xed\xa0\x80"}'`],
    ['has the arguments twice', `'{"a": 1}{"a": 2}'`],
  ])('T02 stdin that %s makes no call of another tool', async (_, text) => {
    const { output, calls } = await session.runCell(`tool get - <<<${text} 2>/dev/null; echo $?`)
    expect(output).toBe('2\n')
    expect(calls).toEqual([])
  })

  it.each([
    ['with a path', `tool '../../etc/passwd' --help`],
    ['with a header', String.raw`tool $'get HTTP/1.1\r\nX: y\r\n' --help`],
    ['with a query', `tool 'get&name=rent' --help`],
    ['that is empty', `tool '' --help`],
    ['that is an option', 'tool --version'],
    ['of a call that is empty', `tool '' - <<<'{"name": "get", "arguments": {"a": 1}}'`],
  ])('T03 a name %s is no tool', async (_, command) => {
    const { output, calls } = await session.runCell(`${command} 2>/dev/null; echo $?`)
    expect(output).toBe('2\n')
    expect(calls).toEqual([])
  })

  it('T04 nothing of a result is executed or drives a terminal by itself', async () => {
    const { output } = await session.runCell('tool get a=1', () => ({
      status: 'ok',
      value: '$(touch /tmp/pwned)\u001b[2J',
    }))
    expect(output).toBe('"$(touch /tmp/pwned)\\u001b[2J"\n')
    expect((await session.runCell('ls /tmp/pwned 2>/dev/null; echo $?')).output).toBe('2\n')
  })

  it.each([
    ['an argument', String.raw`{"name": "get", "arguments": {"a": "\ud800x"}}`, 200],
    ['the name of an argument', String.raw`{"name": "get", "arguments": {"a": 1, "\udc00": 1}}`, 200],
    ['the name of a tool', String.raw`{"name": "get\ud800"}`, 404],
    ['a word', String.raw`{"name": "get", "words": ["a=\ud800"]}`, 200],
    ['a word without a name', String.raw`{"name": "get", "words": ["\ud800"]}`, 400],
  ])('S06 half of a character in %s has an answer, and the session lives', async (_, body, status) => {
    const { output, calls } = await python(`
print(post("/tools/call", ${JSON.stringify(body)}.encode()).split()[1])`)
    expect(output).toBe(`${status}\n`)
    expect(calls).toHaveLength(status === 200 ? 1 : 0)
    expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
  })

  it('S03 a client that goes away while its call is open leaves the other calls alone', async () => {
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

  it('S05 a socket that code has removed is there again in the next cell', async () => {
    await session.runCell('rm "$PTC_TOOLS"')
    const { output } = await session.runCell('stat -c %a "$PTC_TOOLS"; tool get a=1')
    expect(output).toBe('600\n{"a": "1"}\n')
  })

  it('S05 code that ends the dispatcher ends only its sandbox', async () => {
    const hostile = await new SessionHarness(backend, {}, undefined, 'bash').open()
    const { finalResult } = await hostile.runCell('kill -9 $PPID; /bin/sleep 60')
    expect(finalResult).toMatchObject({ type: 'lost' })
    await hostile.close()
    expect((await session.runCell('tool get a=1')).output).toBe('{"a": "1"}\n')
  })
})
