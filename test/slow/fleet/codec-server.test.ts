import { fileURLToPath } from 'node:url'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { expect, it, onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient } from '../../../src/client/index.js'
import { PtcProcess } from '../../support/cli/ptc.js'
import { startCodecProxy } from '../../support/deploy/codec-proxy.js'
import { composeServices, deployTools } from '../../support/deploy/tools.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { connectClient, terminateAfterTest, uniqueName } from '../../support/temporal/shared-server.js'

const project = fileURLToPath(new URL('../../../examples/fleet', import.meta.url))

interface Payloads {
  readonly payloads: readonly { readonly data?: string }[]
}

interface JsonHistory {
  readonly events: readonly { readonly workflowExecutionStartedEventAttributes?: { readonly input: Payloads } }[]
}

const [tools, s3] = await Promise.all([deployTools, s3Available])

it.skipIf(!tools || !s3)(
  'the codec server of docker-compose.yml shows whole values to the page of the UI',
  async () => {
    const [services, store] = await Promise.all([composeServices(), S3Server.start()])
    onTestFinished(() => store.close())
    const { bucket, region = '' } = store.settings()
    const { command = [], environment = {} } = services['codec-server'] ?? {}
    const [, port = ''] = (await freeAddress()).split(':')
    const server = new PtcProcess([...command, '--port', port], project, {
      ...environment,
      PATH: process.env['PATH'] ?? '',
      S3_ENDPOINT: store.endpoint,
      S3_BUCKET: bucket,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    })
    onTestFinished(async () => {
      server.signal('SIGTERM')
      expect(await server.result).toMatchObject({ code: 0 })
    })
    await server.waitForOutput(/codec server: http:\/\/0\.0\.0\.0:/, 'stdout')
    const { environment: proxyEnvironment = {}, ports } = services['codec-proxy'] ?? {}
    const proxy = await startCodecProxy(`127.0.0.1:${port}`, proxyEnvironment)
    const { TEMPORAL_CODEC_ENDPOINT: endpoint = '' } = services['temporal-ui']?.environment ?? {}
    expect(JSON.stringify(ports)).toContain(`${new URL(endpoint).host}:8234`)

    const client = await connectClient(
      await createDataConverter({ kind: 's3', bucket, region, endpoint: store.endpoint, forcePathStyle: true }),
    )
    onTestFinished(() => client.connection.close())
    const source = `# ${'x'.repeat(500_000)}`
    const { workflowId } = await createPtcClient({ client, taskQueue: uniqueName('unserved') }).startProgram({ source })
    terminateAfterTest(client, workflowId)
    const history = await client.workflow.getHandle(workflowId).fetchHistory()
    const { events } = JSON.parse(historyToJSON(history)) as JsonHistory
    const input = events[0]?.workflowExecutionStartedEventAttributes?.input
    expect(JSON.stringify(input).length).toBeLessThan(10_000)

    const decode = (url: string, origin: string) =>
      fetch(`${url}/decode`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      })
    for (const origin of ['http://127.0.0.1:8080', 'http://localhost:8080']) {
      const response = await decode(proxy, origin)
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      const { payloads } = (await response.json()) as Payloads
      expect(JSON.parse(Buffer.from(payloads[0]?.data ?? '', 'base64').toString())).toMatchObject({ source })
    }
    expect((await decode(proxy, 'http://example.com')).status).toBe(403)
    expect((await decode(`http://127.0.0.1:${port}`, 'http://127.0.0.1:8080')).status).toBe(401)
  },
)
