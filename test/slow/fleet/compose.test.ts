import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { createDataConverter, createPtcClient } from '../../../src/client/index.js'
import { roles } from '../../../src/common/names.js'
import { findTemporalCli } from '../../../src/dev-server/temporal-cli.js'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { composeServices, deployTools } from '../../support/deploy/tools.js'
import { Prometheus } from '../../support/deploy/prometheus.js'
import { WorkerProcess } from '../../support/environment/worker-process.js'
import { temporaryFolder } from '../../support/folders.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { pollOptions } from '../../support/poll-options.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { answerResult, code, turn } from '../../support/script.js'
import { PostgresTemporal, postgresTemporalBinaries } from '../../support/temporal/postgres-temporal.js'
import { connectClient } from '../../support/temporal/shared-server.js'

const config = fileURLToPath(new URL('../../../examples/fleet/ptc.config.ts', import.meta.url))

const [tools, s3, temporal] = await Promise.all([deployTools, s3Available, postgresTemporalBinaries])
const isRunnable = tools && s3 && temporal && inject('docker') === 'available'

// The programs come from Debian's packages instead of images. Roles, settings, rules and configuration come from
// docker-compose.yml and deploy/.
it.skipIf(!isRunnable)('the fleet of docker-compose.yml runs an agent, and Prometheus has its metrics', async () => {
  const [services, server, store] = await Promise.all([composeServices(), PostgresTemporal.start(), S3Server.start()])
  onTestFinished(() => store.close())
  const api = await startScriptedMessagesApi({
    script: [turn(code('print(sum(await get_expenses(employee="ada")))')), answerResult],
  })
  onTestFinished(() => api.close())
  const { bucket } = store.settings()
  const auditFile = join(await temporaryFolder(), 'audit.jsonl')
  const cli = await findTemporalCli({
    environment: process.env,
    onProgress: () => undefined,
    signal: AbortSignal.timeout(150_000),
  })
  const { entrypoint = [], command: attributes = [] } = services['search-attributes'] ?? {}
  const register = [...entrypoint.slice(1), ...attributes]
  execFileSync(
    cli,
    register.map((word) => (word === 'temporal:7233' ? server.address : word)),
  )
  const here: Readonly<Record<string, string>> = {
    TEMPORAL_ADDRESS: server.address,
    S3_ENDPOINT: store.endpoint,
    S3_BUCKET: bucket,
    AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
    AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
  }
  const started = await Promise.all(
    roles.map(async (role) => {
      const { command, environment } = services[`worker-${role}`] ?? {}
      expect(command).toEqual(['worker', '--roles', role])
      const metrics = await freeAddress()
      const worker = await WorkerProcess.start({
        config,
        taskQueue: 'fleet',
        roles: [role],
        environment: {
          ...environment,
          ...here,
          AUDIT_FILE: auditFile,
          PTC_METRICS_ADDRESS: metrics,
          PTC_HEALTH_ADDRESS: '127.0.0.1:0',
          ...(role === 'model' && { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key' }),
        },
      })
      onTestFinished(() => worker.kill())
      return { role, worker, metrics, health: /health: (http:\S+)/.exec(worker.log)?.[1] ?? '' }
    }),
  )
  const prometheus = await Prometheus.start(started.map(({ metrics }) => metrics))
  for (const { health } of started) expect(await (await fetch(health)).json()).toMatchObject({ status: 'ready' })

  const client = await connectClient(
    await createDataConverter({ kind: 's3', bucket, endpoint: store.endpoint, forcePathStyle: true }),
    server.address,
  )
  onTestFinished(() => client.connection.close())
  const run = await createPtcClient({ client, taskQueue: 'fleet' }).startAgent({
    question: 'What did Ada spend?',
    model: 'scripted',
  })
  expect(await run.result()).toMatchObject({ answer: '6340' })

  const { typedSearchAttributes } = await client.workflow.getHandle(run.workflowId).describe()
  const known = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])
  expect(Object.fromEntries(known)).toMatchObject({ PtcStatus: 'answered', PtcModel: 'scripted' })
  const lines = (await readFile(auditFile, 'utf8')).trim().split('\n')
  const types = lines.map((line) => (JSON.parse(line) as { readonly type: string }).type)
  expect(new Set(types)).toEqual(
    new Set(['turn.completed', 'cell.started', 'cell.completed', 'call.started', 'call.completed']),
  )

  const sum = (metric: string) => prometheus.query(`sum(${metric})`)
  await vi.waitUntil(
    async () => (await sum('ptc_tool_calls_total{tool="get_expenses",status="ok"}')) === 1,
    pollOptions,
  )
  await vi.waitUntil(async () => (await sum('up{job="durable-ptc"}')) === 4, pollOptions)
  expect(await sum('ptc_model_turns_total{status="ok"}')).toBe(2)
  expect(await sum('ptc_cells_total{status="ok"}')).toBe(1)
  expect(await sum('ptc_session_opens_total{reason="new"}')).toBe(1)
  await vi.waitUntil(async () => ((await sum('ptc_warm_pool_idle')) ?? 0) > 0, pollOptions)

  const rules = async () => new Map((await prometheus.rules()).map((rule) => [rule.name, rule]))
  expect([...(await rules()).values()].filter(({ health }) => health !== 'ok')).toEqual([])
  expect((await rules()).get('PtcWorkerDown')?.state).toBe('inactive')
  await started.find(({ role }) => role === 'tools')?.worker.kill()
  await vi.waitUntil(async () => (await rules()).get('PtcWorkerDown')?.state === 'pending', pollOptions)
})
