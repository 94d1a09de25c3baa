import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { findRunningDevServer } from '../../../src/dev-server/index.js'
import { writeServerRecord } from '../../../src/dev-server/running-server.js'
import { isListening, startTestServer } from '../../support/dev-server/dev-server-fixtures.js'
import { temporaryFolder } from '../../support/folders.js'
import { unusedAddress } from '../../support/unused-address.js'

/** Starts a server in a separate owner process, like that of `ptc dev`. */
async function startOwner(stateDirectory: string): Promise<{ readonly owner: ChildProcess; readonly address: string }> {
  const jiti = fileURLToPath(new URL('../../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
  const script = fileURLToPath(new URL('server-owner-process.ts', import.meta.url))
  const owner = spawn(process.execPath, [jiti, script, stateDirectory], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void owner.kill('SIGKILL'))
  for await (const address of createInterface({ input: owner.stdout })) return { owner, address }
  throw new Error('the owner ended before its server was ready')
}

/** Process id of the running server, which is also the id of its process group. */
function supervisorOf(stateDirectory: string): number {
  const text = readFileSync(join(stateDirectory, 'temporal.json'), 'utf8')
  return z.object({ pid: z.int() }).parse(JSON.parse(text)).pid
}

test('a second start on the same state directory joins the running server', async () => {
  const stateDirectory = await temporaryFolder()
  const first = await startTestServer({ stateDirectory })
  const second = await startTestServer({ stateDirectory })
  expect(second).toMatchObject({ origin: 'running', address: first.address, namespace: 'default' })
  await second.close()
  expect(await isListening(first)).toBe(true)
})

test('two concurrent starts on the same state directory create one server', async () => {
  const stateDirectory = await temporaryFolder()
  const both = await Promise.all([startTestServer({ stateDirectory }), startTestServer({ stateDirectory })])
  expect(both.map(({ origin }) => origin).sort()).toEqual(['running', 'started'])
  expect(both[0].address).toBe(both[1].address)
})

test('joining with a namespace that the server does not have is refused', async () => {
  const stateDirectory = await temporaryFolder()
  await startTestServer({ stateDirectory })
  await expect(startTestServer({ stateDirectory, namespace: 'other' })).rejects.toThrow(
    'has namespace default, not other',
  )
})

test('another process finds the server only while it runs', async () => {
  const stateDirectory = await temporaryFolder()
  const { owner, address } = await startOwner(stateDirectory)
  expect(await findRunningDevServer(stateDirectory)).toMatchObject({ origin: 'running', address })
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  expect(await findRunningDevServer(stateDirectory)).toBeUndefined()
})

test('a server ends when its owner is killed with SIGKILL, and the next start waits for that', async () => {
  const stateDirectory = await temporaryFolder()
  const { owner, address } = await startOwner(stateDirectory)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const next = await startTestServer({ stateDirectory })
  expect(next.origin).toBe('started')
  if (next.address !== address) expect(await isListening({ address })).toBe(false)
})

test('a server that still answers after its supervisor was killed is not joined', async () => {
  const stateDirectory = await temporaryFolder()
  const first = await startTestServer({ stateDirectory })
  process.kill(supervisorOf(stateDirectory), 'SIGKILL')
  await first.unexpectedExit
  expect(await findRunningDevServer(stateDirectory)).toBeUndefined()
  const second = await startTestServer({ stateDirectory })
  expect(second.origin).toBe('started')
  expect(await isListening(second)).toBe(true)
})

test('the next start waits for a server process without supervisor, which still locks the database', async () => {
  const stateDirectory = await temporaryFolder()
  const supervisor = spawn('/bin/sh', ['-c', 'sleep 600 &'], { detached: true, stdio: 'ignore' })
  await once(supervisor, 'exit')
  const { pid = 0 } = supervisor
  await writeServerRecord(stateDirectory, { owner: pid, pid, address: unusedAddress, namespace: 'default' })
  const lines: string[] = []
  const starting = startTestServer({
    stateDirectory,
    onProgress: (line) => {
      lines.push(line)
      if (line.startsWith('waiting')) process.kill(-pid, 'SIGKILL')
    },
  })
  expect((await starting).origin).toBe('started')
  expect(lines[0]).toBe(`waiting for the Temporal server of a killed process (pid ${pid})`)
})

test('the owner is notified when its server exits', async () => {
  const stateDirectory = await temporaryFolder()
  const server = await startTestServer({ stateDirectory })
  process.kill(-supervisorOf(stateDirectory), 'SIGKILL')
  const error = await server.unexpectedExit
  expect(error.code).toBe('TEMPORAL_UNREACHABLE')
  expect(error.message).toMatch(/^the Temporal server ended by itself \(signal SIGKILL\)/)
})

test('a record that is broken or of another version is ignored', async () => {
  const stateDirectory = await temporaryFolder()
  writeFileSync(join(stateDirectory, 'temporal.json'), '{"owner": 1, "addr')
  expect(await findRunningDevServer(stateDirectory)).toBeUndefined()
  expect((await startTestServer({ stateDirectory })).origin).toBe('started')
})
