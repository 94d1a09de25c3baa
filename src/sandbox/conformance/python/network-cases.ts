import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NetworkAccess, RequestEvent } from '../../network/access.js'
import type { CaseDefinition, ConformanceContext } from '../conformance-context.js'
import type { SessionHarness } from '../session-harness.js'

/**
 * A server of this process, by another spelling of its address: programs do not use the proxy for 127.0.0.1, which is
 * their own sandbox.
 */
async function withServer(
  answer: RequestListener,
  work: (url: string, access: RecordingAccess) => Promise<void>,
): Promise<void> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const events: RequestEvent[] = []
  const access: RecordingAccess = {
    rules: { allow: [{ host: '127.0.0.1', port }], requestsPerMinute: 600, bytesPerRequest: 16 * 1024 * 1024 },
    fillHeaders: (headers) => Promise.resolve(headers),
    observe: (_, event) => Promise.resolve(void events.push(event)),
    events,
  }
  try {
    await work(`http://127.1:${port}`, access)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

type RecordingAccess = NetworkAccess & { readonly events: RequestEvent[] }

async function openWith(context: ConformanceContext, network: NetworkAccess): Promise<SessionHarness> {
  const harness = context.createHarness()
  harness.network = network
  return context.closeAfterCase(await harness.open())
}

/** The network of code, which its connection to the worker carries. */
export const networkCases: readonly CaseDefinition[] = [
  {
    name: 'code reaches an allowed host, and no other one',
    requires: 'supportsNetwork',
    async run(context) {
      const answer: RequestListener = (_, response) => void response.end('x'.repeat(1_000_000))
      await withServer(answer, async (url, access) => {
        const harness = await openWith(context, access)
        const { output } = await harness.runCell(`
import urllib.request
print(len(urllib.request.urlopen('${url}/').read()))
for other in ('http://127.1:1/', 'https://example.com/'):
    try:
        urllib.request.urlopen(other)
    except OSError as error:
        print(error)`)
        const refused = ['127.0.0.1:1 is not allowed', 'Tunnel connection failed: 403 example.com:443 is not allowed']
        assert.deepEqual(output.trimEnd().split('\n'), [
          '1000000',
          `HTTP Error 403: ${refused[0]}`,
          `<urlopen error ${refused[1]}>`,
        ])
        const types = access.events.map(({ type }) => type)
        assert.deepEqual(types, ['request.started', 'request.completed', 'request.refused', 'request.refused'])
      })
    },
  },
  {
    name: 'code sends more than the worker keeps of a connection',
    requires: 'supportsNetwork',
    async run(context) {
      const answer: RequestListener = (request, response) => {
        const hash = createHash('sha256')
        request.on('data', (piece: Buffer) => hash.update(piece))
        request.on('end', () => response.end(hash.digest('hex')))
      }
      await withServer(answer, async (url, access) => {
        const harness = await openWith(context, access)
        const { output } = await harness.runCell(`
import hashlib, urllib.request
content = bytes(range(256)) * 20_000
request = urllib.request.Request('${url}/', data=content, method='PUT')
print(urllib.request.urlopen(request).read().decode() == hashlib.sha256(content).hexdigest())`)
        assert.equal(output, 'True\n')
      })
    },
  },
  {
    name: 'programs that code starts find the proxy, too',
    requires: ['supportsNetwork', 'supportsProcesses'],
    async run(context) {
      const answer: RequestListener = (request, response) => void response.end(request.url)
      await withServer(answer, async (url, access) => {
        const harness = await openWith(context, access)
        const { output } = await harness.runCell(`
import subprocess, sys
program = "import urllib.request; print(urllib.request.urlopen('${url}/child').read().decode())"
print(subprocess.run([sys.executable, '-c', program], capture_output=True, text=True).stdout)`)
        assert.equal(output, '/child\n\n')
      })
    },
  },
  {
    name: 'code uses many connections at once, and one that does not read stops no other',
    requires: ['supportsNetwork', 'supportsProcesses'],
    async run(context) {
      const answer: RequestListener = (request, response) => {
        if (request.url === '/endless') {
          const write = (): void => {
            while (!response.destroyed && response.write(Buffer.alloc(65_536)));
            if (!response.destroyed) response.once('drain', write)
          }
          write()
        } else response.end(request.url)
      }
      await withServer(answer, async (url, access) => {
        const harness = await openWith(context, access)
        const { output } = await harness.runCell(`
import urllib.request
from concurrent.futures import ThreadPoolExecutor
unread = [urllib.request.urlopen('${url}/endless') for _ in range(4)]
def get(path):
    return urllib.request.urlopen('${url}' + path).read().decode()
with ThreadPoolExecutor(16) as pool:
    print(sorted(pool.map(get, [f'/{number}' for number in range(10, 60)])) == [f'/{number}' for number in range(10, 60)])
for response in unread:
    response.close()`)
        assert.equal(output, 'True\n')
      })
    },
  },
  {
    name: 'a connection is reset when another worker attaches, and further ones go by this worker',
    requires: ['supportsNetwork', 'supportsReattach'],
    async run(context) {
      let requested: (() => void) | undefined
      const first = new Promise<void>((resolve) => (requested = resolve))
      const answer: RequestListener = (request, response) => {
        if (request.url === '/silent') requested?.()
        else response.end('answered')
      }
      await withServer(answer, async (url, access) => {
        const harness = await openWith(context, access)
        const source = `
import urllib.request
try:
    urllib.request.urlopen('${url}/silent')
except OSError as error:
    print(type(error).__name__)
print(urllib.request.urlopen('${url}/').read())`
        // Where the older worker learns it, its step is rejected before the other one has a result.
        const lost = harness.startCell(source).catch(() => undefined)
        await first
        const other = context.createHarness(context.newBackend(), harness.session)
        other.network = access
        const result = await other.sendStep(1, { type: 'cell', cell: 1, source }, 2)
        assert.equal(
          result.type === 'completed' ? result.output : JSON.stringify(result),
          "ConnectionResetError\nb'answered'\n",
        )
        await lost
      })
    },
  },
]
