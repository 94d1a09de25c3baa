import { expect, test } from 'vitest'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { syscallHelpers } from '../../../attacks/support/hostile-code.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { useDockerBackend } from '../../../support/sandbox/docker-sandbox.js'

describeDocker('a program under the seccomp profile', () => {
  const backend = useDockerBackend()

  async function run(source: string): Promise<string> {
    const harness = await new SessionHarness(backend).open()
    const { output } = await harness.runCell(syscallHelpers + source)
    await harness.close()
    return output
  }

  test('a program under the seccomp profile can run servers and clients by TCP and UDP on localhost', async () => {
    expect(
      await run(`
import asyncio, http.server, threading, urllib.request
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'page')
    def log_message(self, *_): pass
with http.server.ThreadingHTTPServer(('localhost', 0), Page) as server:
    threading.Thread(target=server.serve_forever).start()
    page = urllib.request.urlopen(f'http://localhost:{server.server_port}').read().decode()
    server.shutdown()
async def echo(reader, writer):
    writer.write(await reader.readline()); writer.close()
async def exchange():
    async with await asyncio.start_server(echo, '127.0.0.1', 0) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b'line\\n')
        answer = (await reader.read()).decode().strip()
        writer.close()
        return answer
line = asyncio.run(exchange())
with socket.socket(type=socket.SOCK_DGRAM) as one, socket.socket(type=socket.SOCK_DGRAM) as other:
    one.bind(('127.0.0.1', 0)); other.sendto(b'datagram', one.getsockname()); datagram = one.recv(20).decode()
print(page, line, datagram, attempt(lambda: socket.socket(socket.AF_INET6).close()))
`),
    ).toBe('page line datagram done\n')
  })

  test("a program under the seccomp profile can't create a pty", async () => {
    expect(
      await run(`
import fcntl, termios
master = os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
print(attempt(os.openpty), attempt(fcntl.ioctl, master, termios.TCSETS, bytes(60)), attempt(os.tcsetpgrp, master, os.getpgrp()))
`),
    ).toBe('EPERM ENOTTY ENOTTY\n')
  })

  test('a program under the seccomp profile can use ordinary ioctl requests on files, pipes and terminals', async () => {
    expect(
      await run(`
import array, fcntl, pathlib, shutil, termios
reading, writing = os.pipe()
os.write(writing, b'seven..')
waiting = array.array('i', [0])
fcntl.ioctl(reading, termios.FIONREAD, waiting)
os.set_inheritable(reading, True); os.set_inheritable(reading, False); os.set_blocking(reading, False)
pathlib.Path('/tmp/one').write_text('copied'); shutil.copy('/tmp/one', '/tmp/two')
subprocess.run(['cp', '/tmp/two', '/tmp/three'], check=True)
def clone():
    with open('/tmp/one') as source, open('/tmp/four', 'w') as target: fcntl.ioctl(target, 0x40049409, source.fileno())
try: termios.tcgetattr(reading)
except termios.error as error: terminal = errno.errorcode[error.args[0]]
size = attempt(lambda: os.get_terminal_size(reading))
print(waiting[0], os.isatty(reading), terminal, size, attempt(lambda: os.tcgetpgrp(reading)), attempt(clone),
    shutil.get_terminal_size().columns, socket.if_indextoname(socket.if_nametoindex('lo')), pathlib.Path('/tmp/three').read_text())
`),
    ).toBe('7 False ENOTTY ENOTTY ENOTTY ENOTSUP 80 lo copied\n')
  })
})
