import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend, type DockerBackend } from '../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { accessTo } from '../../support/network/access.js'
import { type Authority, type Certificate, signCertificate } from '../../support/network/certificates.js'
import { ensureClientImage, npm } from '../../support/network/client-image.js'
import { listen } from '../../support/network/proxy.js'
import { gitService, npmService, pipService, startSecured } from '../../support/network/services.js'
import { resolverOf } from '../../support/web/page-fetcher.js'

const names = ['api.test', 'files.test']

/**
 * Clients that users install, with the proxy and the certificates that their environment names. The certificate authority
 * is one of the system of the image, as that of a company would be.
 */
describeDocker("clients of an image of one's own", () => {
  let backend: DockerBackend
  let authority: Authority
  const harnesses: SessionHarness[] = []
  beforeAll(async () => {
    const found = await ensureClientImage()
    authority = found.authority
    backend = createDockerBackend({ image: found.image })
  }, 600_000)
  afterAll(async () => {
    await Promise.all(harnesses.map((harness) => harness.close()))
    await backend?.close()
  })

  const certificate = (): Promise<Certificate> => signCertificate(authority, ...names)

  /** Returns a function that executes code of bash in a sandbox that reaches these ports. */
  async function open(...ports: readonly number[]) {
    const { resolve } = resolverOf(Object.fromEntries(names.map((name) => [name, ['127.0.0.1']])))
    const limits = { memoryBytes: 1 << 30, tmpBytes: 512 << 20 }
    const harness = new SessionHarness(backend, limits, undefined, 'bash', { resolve })
    harnesses.push(harness)
    const hosts = [...names, '127.0.0.1']
    harness.network = accessTo(
      ports.flatMap((port) => hosts.map((host) => ({ host, port }))),
      { bytesPerRequest: 256 << 20 },
    )
    await harness.open()
    return async (code: string): Promise<string> => {
      const { output, finalResult } = await harness.runCell(code)
      return finalResult.type === 'completed' ? output : `${output}${JSON.stringify(finalResult)}`
    }
  }

  const python = (code: string) => `python3 - <<'CODE'\n${code}\nCODE\n`
  const node = (code: string) => `node --no-warnings --input-type=module - <<'CODE'\n${code}\nCODE\n`

  it('git clones a repository, and pushes to it', async () => {
    const answer = await gitService()
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    const output = await run(`
cd /tmp && git clone --quiet https://api.test:${port}/project.git && cd project && cat README
git config user.name Ada && git config user.email ada@example.com
head -c 3000000 /dev/urandom >data && git add data && git commit --quiet -m 'Add data'
git push --quiet && git clone --quiet https://api.test:${port}/project.git /tmp/again
cmp data /tmp/again/data && git log --format=%s`)
    expect(output).toBe('A project.\nAdd data\nBegin\n')
  })

  it('pip installs a package from an index whose files are on another host', async () => {
    let answer: RequestListener = () => undefined
    const port = await startSecured(await certificate(), (...both) => answer(...both))
    answer = await pipService(`https://files.test:${port}`)
    const run = await open(port)
    expect(
      await run(`
python3 -m pip install --quiet --no-input --disable-pip-version-check --target /tmp/packages \\
  --index-url https://api.test:${port}/simple/ greeting
PYTHONPATH=/tmp/packages python3 -c 'import greeting; print(greeting.TEXT)'`),
    ).toBe('hello\n')
  })

  it('npm installs a package', async () => {
    let answer: RequestListener = () => undefined
    const port = await startSecured(await certificate(), (...both) => answer(...both))
    const url = `https://api.test:${port}`
    answer = await npmService(() => url)
    const run = await open(port)
    expect(
      await run(`
mkdir -p /tmp/project && cd /tmp/project
${npm} install --silent --no-audit --no-fund --no-update-notifier --registry ${url}/ greeting
node -p 'require("greeting")'`),
    ).toBe('hello\n')
  })

  it('curl, by HTTP/1.1 and HTTP/2', async () => {
    const answer: RequestListener = ({ httpVersion }, response) => void response.end(`HTTP/${httpVersion}\n`)
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    const url = `https://api.test:${port}/`
    expect(await run(`curl -sS --http1.1 ${url}; curl -sS --http2 ${url}`)).toBe('HTTP/1.1\nHTTP/2.0\n')
  })

  it('Python: requests, httpx by HTTP/1.1 and HTTP/2, and aiohttp', async () => {
    const answer: RequestListener = ({ httpVersion }, response) => void response.end(`HTTP/${httpVersion}`)
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    const code = `
import aiohttp, asyncio, httpx, requests, urllib.request
url = 'https://api.test:${port}/'
print(urllib.request.urlopen(url).read().decode())
print(requests.get(url).text)
print(httpx.get(url).text)
with httpx.Client(http2=True) as client:
    print(client.get(url).text)
async def get():
    async with aiohttp.ClientSession(trust_env=True) as session, session.get(url) as response:
        print(await response.text())
asyncio.run(get())`
    expect(await run(python(code))).toBe('HTTP/1.1\nHTTP/1.1\nHTTP/1.1\nHTTP/2.0\nHTTP/1.1\n')
  })

  it('Node.js: fetch, node:https, and node:http2 in a tunnel of its own', async () => {
    const answer: RequestListener = ({ httpVersion }, response) => void response.end(`HTTP/${httpVersion}`)
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    const code = `
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import http2 from 'node:http2'
import tls from 'node:tls'
const url = 'https://api.test:${port}/'
console.log(await (await fetch(url)).text())
const [response] = await once(https.get(url), 'response')
for await (const chunk of response) console.log(String(chunk))
const { hostname, port } = new URL(process.env.https_proxy)
const request = http.request({ host: hostname, port, method: 'CONNECT', path: 'api.test:${port}', agent: false })
const [, socket] = await once(request.end(), 'connect')
const createConnection = () => tls.connect({ socket, servername: 'api.test', ALPNProtocols: ['h2'] })
const session = http2.connect(url, { createConnection })
for await (const chunk of session.request({ ':path': '/' })) console.log(String(chunk))
session.close()`
    expect(await run(node(code))).toBe('HTTP/1.1\nHTTP/1.1\nHTTP/2.0\n')
  })

  it('WebSockets of Node.js and Python, in both directions, and after a while without a byte', async () => {
    const { cert, key } = await certificate()
    const server = createServer({ cert, key })
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.on('message', (data, isBinary) => {
        if (isBinary) socket.send(data)
        else setTimeout(() => socket.send('late'), 6_000)
      })
      socket.send('welcome')
    })
    const port = await listen(server)
    const run = await open(port)
    const ofNode = `
import { once } from 'node:events'
const socket = new WebSocket('wss://api.test:${port}/')
socket.binaryType = 'arraybuffer'
const next = async () => (await once(socket, 'message'))[0].data
console.log(await next())
const sent = new Uint8Array(300_000).fill(7)
socket.send(sent)
console.log(Buffer.from(await next()).equals(sent))
socket.send('idle')
console.log(await next())
socket.close()`
    const ofPython = `
import asyncio, websockets
async def main():
    async with websockets.connect('wss://api.test:${port}/') as socket:
        print(await socket.recv())
        await socket.send(bytes(300_000))
        print(await socket.recv() == bytes(300_000))
        await socket.send('idle')
        print(await socket.recv())
asyncio.run(main())`
    expect(await run(node(ofNode))).toBe('welcome\ntrue\nlate\n')
    expect(await run(python(ofPython))).toBe('welcome\nTrue\nlate\n')
  })

  it('server-sent events arrive one by one', async () => {
    let stream: Parameters<RequestListener>[1] | undefined
    let count = 0
    const answer: RequestListener = ({ url }, response) => {
      if (url === '/events') {
        stream = response
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      } else response.end()
      count += 1
      stream?.write(`data: ${count}\n\n`)
    }
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    // Each event is sent when the one before it was read.
    const code = `
const url = 'https://api.test:${port}'
const events = await fetch(url + '/events')
const received = []
for await (const chunk of events.body.pipeThrough(new TextDecoderStream())) {
  received.push(chunk)
  if (received.length === 4) break
  await (await fetch(url + '/next')).text()
}
console.log(JSON.stringify(received.join('')))`
    expect(await run(node(code))).toBe(`${JSON.stringify([1, 2, 3, 4].map((each) => `data: ${each}\n\n`).join(''))}\n`)
  })

  it('a download and an upload of 100 MB arrive whole', async () => {
    const bytes = 100_000_000
    const content = Buffer.alloc(bytes, 'durable')
    const sha256 = createHash('sha256').update(content).digest('hex')
    let uploaded = createHash('sha256')
    const answer: RequestListener = (request, response) => {
      if (request.method === 'GET') return void response.writeHead(200, { 'Content-Length': bytes }).end(content)
      uploaded = createHash('sha256')
      request.on('data', (chunk: Buffer) => uploaded.update(chunk))
      request.on('end', () => response.end(uploaded.digest('hex')))
    }
    const port = await startSecured(await certificate(), answer)
    const run = await open(port)
    const url = `https://api.test:${port}/`
    const output = await run(`
curl -sS --http1.1 -o /tmp/content ${url} && sha256sum </tmp/content | cut -c -64
curl -sS --http1.1 -T /tmp/content ${url}`)
    expect(output).toBe(`${sha256}\n${sha256}`)
  })
})
