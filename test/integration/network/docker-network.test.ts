import { afterAll, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { accessTo } from '../../support/network/access.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'
import { body, startWebServer } from '../../support/web/web-server.js'
import { resolverOf } from '../../support/web/page-fetcher.js'

describeDocker('the network of a sandbox', () => {
  const backend = useDockerBackend()
  const harnesses: SessionHarness[] = []
  afterAll(() => Promise.all(harnesses.map((harness) => harness.close())))

  it('code reaches an allowed host through the proxy, and no other host', async () => {
    const server = await startWebServer({ '/hello': body('hello') })
    const { port } = server
    const { resolve } = resolverOf({ 'api.test': ['127.0.0.1'] })
    const harness = new SessionHarness(backend, {}, undefined, 'python', { resolve })
    harnesses.push(harness)
    const access = accessTo([
      { host: 'api.test', port },
      { host: '127.0.0.1', port },
    ])
    harness.network = access
    await harness.open()
    const { output } = await harness.runCell(`
import urllib.request
print(urllib.request.urlopen('http://api.test:${port}/hello').read())
for url in ('http://other.test/', 'https://other.test/'):
    try:
        urllib.request.urlopen(url)
    except OSError as error:
        print(error)`)
    expect(output.split('\n')).toEqual([
      "b'hello'",
      'HTTP Error 403: other.test:80 is not allowed',
      '<urlopen error Tunnel connection failed: 403 other.test:443 is not allowed>',
      '',
    ])
    const requested = { host: 'api.test', port, method: 'GET' }
    expect(access.events).toEqual([
      { type: 'request.started', ...requested },
      {
        type: 'request.completed',
        ...requested,
        status: 200,
        bytesSent: 0,
        bytesReceived: 5,
        durationMs: expect.any(Number),
      },
      { type: 'request.refused', host: 'other.test', port: 80, method: 'GET', rule: 'host' },
      { type: 'request.refused', host: 'other.test', port: 443, method: 'CONNECT', rule: 'host' },
    ])
    expect(server.requested).toEqual(['/hello'])
  })
})
