import { createServer } from 'node:https'
import { afterAll, expect, it } from 'vitest'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { accessTo } from '../../support/network/access.js'
import { createCertificate } from '../../support/network/certificates.js'
import { listen } from '../../support/network/proxy.js'
import { useDockerBackend } from '../../support/sandbox/docker-sandbox.js'
import { resolverOf } from '../../support/web/page-fetcher.js'
import { body, startWebServer } from '../../support/web/web-server.js'

/** Clients that are in the image, by the proxy in their environment. */
describeDocker('clients of a sandbox with a network', () => {
  const backend = useDockerBackend()
  const harnesses: SessionHarness[] = []
  afterAll(() => Promise.all(harnesses.map((harness) => harness.close())))

  async function open(language: string) {
    const certificate = await createCertificate('api.test')
    const { cert, key } = certificate
    const port = await listen(createServer({ cert, key }, (_, response) => void response.end('secured')))
    const plain = await startWebServer({ '/': body('plain') })
    const { resolve } = resolverOf({ 'api.test': ['127.0.0.1'] })
    const harness = new SessionHarness(backend, {}, undefined, language, { resolve })
    harnesses.push(harness)
    harness.network = accessTo(
      [port, plain.port].flatMap((each) => [
        { host: 'api.test', port: each },
        { host: '127.0.0.1', port: each },
      ]),
    )
    await harness.open()
    const urls = { secured: `https://api.test:${port}/`, plain: `http://api.test:${plain.port}/` }
    const run = async (code: string): Promise<string> => {
      const { output, finalResult } = await harness.runCell(code)
      return finalResult.type === 'completed' ? output : JSON.stringify(finalResult)
    }
    return { run, ca: JSON.stringify(certificate.ca), ...urls }
  }

  it('Python: urllib, http and https', async () => {
    const { run, ca, secured, plain } = await open('python')
    const code = `
import ssl, urllib.request
context = ssl.create_default_context(cadata=${ca})
print(urllib.request.urlopen('${secured}', context=context).read(), urllib.request.urlopen('${plain}').read())
try:
    urllib.request.urlopen('${secured}')
except OSError as error:
    print('CERTIFICATE_VERIFY_FAILED' in str(error))`
    expect(await run(code)).toBe("b'secured' b'plain'\nTrue\n")
  })

  it('Node.js: fetch and node:http, http and https', async () => {
    const { run, secured, plain } = await open('javascript')
    const code = `
import http from 'node:http'
import { once } from 'node:events'
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
const texts = [await (await fetch('${secured}')).text(), await (await fetch('${plain}')).text()]
const [response] = await once(http.get('${plain}'), 'response')
for await (const chunk of response) texts.push(String(chunk))
console.log(texts.join())
console.log(await fetch('https://other.test/').catch(() => 'refused'))`
    // Node.js warns of the certificate in front of it.
    expect(await run(code)).toMatch(/\nsecured,plain,plain\nrefused\n$/)
  })

  it('processes that bash starts', async () => {
    const { run, plain } = await open('bash')
    expect(await run(`python3 -c "import urllib.request; print(urllib.request.urlopen('${plain}').read())"`)).toBe(
      "b'plain'\n",
    )
    const bundle = '/etc/ssl/certs/ca-certificates.crt'
    expect(await run('echo $SSL_CERT_FILE $REQUESTS_CA_BUNDLE $PIP_CERT $NODE_EXTRA_CA_CERTS')).toBe(
      `${Array(4).fill(bundle).join(' ')}\n`,
    )
    expect(await run('echo $HTTP_PROXY $https_proxy $NO_PROXY $NODE_USE_ENV_PROXY')).toBe(
      'http://127.0.0.1:3128 http://127.0.0.1:3128 localhost,127.0.0.1 1\n',
    )
  })
})
