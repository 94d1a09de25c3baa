import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PtcError } from '../../../src/common/errors.js'
import { findTemporalCli } from '../../../src/dev-server/temporal-cli.js'
import { pollOptions } from '../../support/poll-options.js'
import { environmentWithCli, isListening, startTestServer } from '../../support/dev-server/dev-server-fixtures.js'
import { temporaryFolder } from '../../support/folders.js'

async function connect(address: string): Promise<Client> {
  const connection = await Connection.connect({ address })
  onTestFinished(() => connection.close())
  return new Client({ connection })
}

async function failureOf(work: Promise<unknown>): Promise<PtcError> {
  const error: unknown = await work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  )
  if (!PtcError.isInstance(error)) throw error
  return error
}

test('a server in memory answers, has no UI, and stops at close', async () => {
  const server = await startTestServer()
  expect(server).toMatchObject({ namespace: 'default', origin: 'started', uiUrl: undefined })
  expect(await isListening(server)).toBe(true)
  await server.close()
  expect(await isListening(server)).toBe(false)
  await server.close()
})

test('two servers in memory are independent', async () => {
  const [one, two] = await Promise.all([startTestServer(), startTestServer()])
  expect(one.address).not.toBe(two.address)
})

test('the namespace is created, and the UI serves its page', async () => {
  const server = await startTestServer({ ui: true, namespace: 'team-a' })
  const { connection } = await connect(server.address)
  const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'team-a' })
  expect(namespaceInfo?.name).toBe('team-a')
  const page = await fetch(server.uiUrl ?? '')
  expect(await page.text()).toContain('<html')
})

test('a workflow survives a restart of its server', async () => {
  const stateDirectory = join(await temporaryFolder(), '.ptc')
  const first = await startTestServer({ stateDirectory })
  const client = await connect(first.address)
  await client.workflow.start('anything', { taskQueue: 'nobody', workflowId: 'kept' })
  await first.close()

  const second = await startTestServer({ stateDirectory })
  const again = await connect(second.address)
  const { status } = await again.workflow.getHandle('kept').describe()
  expect(status.name).toBe('RUNNING')
})

test('the log of a dev server is in the state directory, with the log of the previous server', async () => {
  const stateDirectory = await temporaryFolder()
  await (await startTestServer({ stateDirectory })).close()
  await (await startTestServer({ stateDirectory })).close()
  expect(readFileSync(join(stateDirectory, 'temporal.log'), 'utf8')).toContain('Temporal')
  expect(existsSync(join(stateDirectory, 'temporal.log.1'))).toBe(true)
})

test('a server that exits during its start is an error with its last output', async () => {
  const environment = await environmentWithCli('echo "database is locked" >&2; exit 3')
  const error = await failureOf(startTestServer({ environment }))
  expect(error.code).toBe('TEMPORAL_UNREACHABLE')
  expect(error.message).toBe('the Temporal server ended while it started (exit code 3)\ndatabase is locked')
})

test('a port that another process takes between the search and the start is replaced', async () => {
  const folder = await temporaryFolder()
  const environment = await environmentWithCli(
    `echo x >> ${folder}/starts; echo "bind: address already in use" >&2; exit 1`,
  )
  await failureOf(startTestServer({ environment }))
  expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('x\nx\nx\n')
})

test('another server that took the port is not mistaken for the started one', async () => {
  const folder = await temporaryFolder()
  const real = await findTemporalCli({
    environment: process.env,
    onProgress: () => {},
    signal: AbortSignal.timeout(60_000),
  })
  // At the first start, another server takes the port first.
  const environment = await environmentWithCli(
    `if [ ! -e ${folder}/other ]; then
  ${real} "$@" >/dev/null 2>&1 &
  echo "$! $*" >${folder}/other
  until [ -e ${folder}/answered ]; do sleep 0.1; done
  echo "bind: address already in use" >&2
  exit 1
fi
exec ${real} "$@"`,
  )
  const starting = startTestServer({ environment })
  const [pid = '', port = ''] = /^(\d+) .*--port=(\d+)/.exec(await waitForText(join(folder, 'other')))?.slice(1) ?? []
  onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'))
  const other = { address: `127.0.0.1:${port}` }
  await expect.poll(() => isListening(other)).toBe(true)
  await setTimeout(1_000) // time for the probe of this server; a later probe finds the next server
  writeFileSync(join(folder, 'answered'), '')
  const server = await starting
  expect(server.address).not.toBe(other.address)
  expect(await isListening(server)).toBe(true)
})

test('a configured port that is in use is refused, not replaced', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const address = other.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const error = await failureOf(startTestServer({ port: address.port }))
  expect(error.message).toBe(`port ${address.port} of this machine is already in use`)
})

test('an aborted start leaves no process behind', async () => {
  await expectEndAfterAbort((pidFile) => `echo $$ > ${pidFile}; exec sleep 600`)
})

test('a server that ignores SIGTERM is killed', async () => {
  await expectEndAfterAbort((pidFile) => `trap "" TERM; echo $$ > ${pidFile}; while :; do sleep 1; done`)
})

/** Starts a server whose CLI is a script that writes its process id into a file, and aborts the start. */
async function expectEndAfterAbort(script: (pidFile: string) => string): Promise<void> {
  const pidFile = join(await temporaryFolder(), 'pid')
  const environment = await environmentWithCli(script(pidFile))
  const controller = new AbortController()
  const starting = startTestServer({ environment, signal: controller.signal })
  await expect.poll(() => existsSync(pidFile)).toBe(true)
  controller.abort(new Error('enough'))
  await expect(starting).rejects.toThrow('enough')
  await waitForExit(Number(await waitForText(pidFile)))
}

/** A killed process exists until its parent reaps it. */
async function waitForExit(pid: number): Promise<void> {
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), pollOptions)
}

async function waitForText(path: string): Promise<string> {
  await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8')).toMatch(/./)
  return readFileSync(path, 'utf8')
}
