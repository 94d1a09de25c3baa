import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { createDataConverter } from '../../../src/client/index.js'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { deployTools } from '../../support/deploy/tools.js'
import { codeBlocksOf } from '../../support/docs/code-blocks.js'
import { simpleCommands } from '../../support/docs/ptc-command-line.js'
import { ComposeFleet, imagesWithoutProgram } from '../../support/fleet/compose-fleet.js'
import { pollOptions } from '../../support/poll-options.js'
import { s3Available } from '../../support/s3/s3-server.js'
import { answerResult, code, turn } from '../../support/script.js'
import { readUntil } from '../../support/serve/server-sent-events.js'
import { postgresTemporalBinaries } from '../../support/temporal/postgres-temporal.js'
import { connectClient, uniqueName } from '../../support/temporal/shared-server.js'

const [tools, s3, temporal] = await Promise.all([deployTools, s3Available, postgresTemporalBinaries])
const isRunnable = tools && s3 && temporal && inject('docker') === 'available'

const workers = ['worker-workflow', 'worker-model', 'worker-tools', 'worker-sandbox']

it.skipIf(!isRunnable)(
  'the services of docker-compose.yml, started together, run an agent over HTTP with its live stream, metrics and alerts',
  async () => {
    const api = await startScriptedMessagesApi({
      script: [turn(code('print(sum(await get_expenses(employee="ada")))')), answerResult],
    })
    onTestFinished(() => api.close())
    const fleet = await ComposeFleet.start({ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: api.url })
    const images = Object.values(fleet.services).map(({ image }) => image.replace(/:[^:/]*$/, ''))
    expect(images.filter((image) => imagesWithoutProgram.some((each) => each === image)).toSorted()).toEqual(
      imagesWithoutProgram.toSorted(),
    )

    await fleet.checkHealth('serve', 8080)
    const name = uniqueName('talk')
    const request = (path: string, init: RequestInit = {}) =>
      fetch(`http://${fleet.addresses.address('serve', 8080)}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${fleet.services['serve']?.environment?.['PTC_SERVE_TOKEN']}` },
      })
    expect((await fetch(`http://${fleet.addresses.address('serve', 8080)}/conversations`)).status).toBe(401)
    const question = { method: 'POST', body: JSON.stringify({ text: 'What did Ada spend?', id: 'm-1' }) }
    expect((await request(`/conversations/${name}/messages`, question)).status).toBe(202)
    expect(await (await request(`/conversations/${name}/messages/m-1`)).json()).toMatchObject({
      status: 'answered',
      answer: '6340',
    })
    expect((await request(`/conversations/${name}/close`, { method: 'POST', body: '{}' })).status).toBe(200)
    const events = await readUntil(await request(`/conversations/${name}/stream`), 'end')
    expect(events.map(({ event }) => event.type)).toEqual(
      expect.arrayContaining(['turn.started', 'text.delta', 'cell.started', 'call.started', 'call.completed']),
    )
    const redis = (...command: readonly string[]) =>
      fleet.run('redis', ['redis-cli', '-p', String(fleet.addresses.port('redis', 6379)), ...command])
    const [stream = ''] = (await redis('--scan', '--pattern', `ptc:stream:*${name}`)).split('\n')
    expect(Number(await redis('xlen', stream))).toBeGreaterThan(0)

    await runGuide(fleet)
    await expectRecords(fleet)
    await expectMetrics(fleet)
    await fleet.process('values-gc').waitForOutput(/^removed \d+ values?, /m)
    // The second `docker compose up` repeats the services that end.
    for (const service of ['temporal-schema', 'temporal-namespace']) await fleet.runAgain(service)

    await fleet.process('worker-tools').kill()
    const alertmanager = `http://${fleet.addresses.address('alertmanager', 9093)}/api/v2/alerts`
    const received = async () =>
      (await (await fetch(alertmanager)).json()) as readonly {
        readonly labels: Readonly<Record<string, string>>
        readonly receivers: readonly { readonly name: string }[]
      }[]
    await vi.waitUntil(
      async () => (await received()).some(({ labels }) => labels['alertname'] === 'PtcWorkerDown'),
      pollOptions,
    )
    const down = (await received()).find(({ labels }) => labels['alertname'] === 'PtcWorkerDown')
    expect(down).toMatchObject({
      labels: { severity: 'page', instance: fleet.addresses.address('worker-tools', 9464) },
      receivers: [{ name: 'page' }],
    })
  },
)

/** Runs the commands of the guide that use a service of the fleet. */
async function runGuide(fleet: ComposeFleet): Promise<void> {
  const scripts = codeBlocksOf('docs/guides/fleet.md').filter(({ language }) => language === 'sh')
  const commands = scripts
    .flatMap(({ text }) => simpleCommands(text))
    .flatMap(([docker, compose, exec, service = '', ...command]) =>
      docker === 'docker' && compose === 'compose' && exec === 'exec' ? [{ service, command }] : [],
    )
  expect(commands.map(({ command }) => command.slice(0, 2).join(' '))).toEqual(['ptc run', 'ptc list', 'ptc values'])
  const outputs: string[] = []
  for (const { service, command } of commands) outputs.push(await fleet.run(service, command))
  expect(outputs[0]).toMatch(/^6340$/m)
  expect(outputs[1]).toMatch(/completed.* Who spent more than 5,000 EUR on travel\?/)
}

/** Search attributes, and the audit log of all workers. */
async function expectRecords(fleet: ComposeFleet): Promise<void> {
  const {
    S3_BUCKET: bucket,
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: key,
  } = fleet.services['serve']?.environment ?? {}
  // A client on this machine, by the published ports.
  vi.stubEnv('AWS_ACCESS_KEY_ID', id ?? '').stubEnv('AWS_SECRET_ACCESS_KEY', key ?? '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const endpoint = `http://${fleet.addresses.address('s3', 7070)}`
  const store = { kind: 's3', bucket: bucket ?? '', region: 'us-east-1', endpoint, forcePathStyle: true } as const
  const client = await connectClient(await createDataConverter(store), fleet.addresses.address('temporal', 7233))
  onTestFinished(() => client.connection.close())
  const runs = []
  for await (const run of client.workflow.list({ query: "PtcStatus = 'answered' AND WorkflowType = 'agent'" }))
    runs.push(run)
  const [attributes = []] = runs.map(({ typedSearchAttributes }) =>
    typedSearchAttributes.getAll().map(({ key: { name }, value }) => [name, value]),
  )
  expect(Object.fromEntries(attributes)).toMatchObject({ PtcStatus: 'answered' })

  const lines = (await readFile(join(fleet.folder, 'audit.jsonl'), 'utf8')).trim().split('\n')
  const types = lines.map((line) => (JSON.parse(line) as { readonly type: string }).type)
  expect(new Set(types)).toEqual(
    new Set(['turn.completed', 'cell.started', 'cell.completed', 'call.started', 'call.completed']),
  )
}

/** The metrics of the run over HTTP, and of that of the guide. */
async function expectMetrics({ prometheus }: ComposeFleet): Promise<void> {
  const sum = (metric: string) => prometheus.query(`sum(${metric})`)
  await vi.waitUntil(
    async () => (await sum('ptc_tool_calls_total{tool="get_expenses",status="ok"}')) === 2,
    pollOptions,
  )
  await vi.waitUntil(async () => (await sum('up{job="durable-ptc"}')) === workers.length, pollOptions)
  await vi.waitUntil(async () => (await sum('up{job="temporal"}')) === 1, pollOptions)
  expect(await sum('ptc_model_turns_total{status="ok"}')).toBe(4)
  expect(await sum('ptc_cells_total{status="ok"}')).toBe(2)
  expect(await sum('ptc_session_opens_total{reason="new"}')).toBe(2)
  await vi.waitUntil(async () => ((await sum('ptc_warm_pool_idle')) ?? 0) > 0, pollOptions)
  // The server tells it from version 1.30 on.
  await vi.waitUntil(async () => (await sum('ptc_runs_failing')) === 0, pollOptions)
  const rules = await prometheus.rules()
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
  expect(rules.find((rule) => rule.name === 'PtcWorkerDown')?.state).toBe('inactive')
}
