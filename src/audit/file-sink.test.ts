import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { AuditEvent } from './audit-log.js'
import { FileAuditSink } from './file-sink.js'

function event(call: number): AuditEvent {
  const fields = { time: '2026-01-01T00:00:00.000Z', namespace: 'default', workflowId: 'w', runId: 'r', attempt: 1 }
  return { ...fields, id: `k/${call}`, type: 'call.refused', status: 'denied', tool: 'x', digest: 'd', index: call }
}

async function openSink() {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-audit-'))
  const path = join(folder, 'audit.jsonl')
  const sink = new FileAuditSink(path)
  onTestFinished(async () => {
    await sink.close()
    await rm(folder, { recursive: true })
  })
  return { sink, path, folder }
}

async function idsIn(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => (JSON.parse(line) as AuditEvent).id)
}

it('the audit file has one line for each event, in order, and only its user can read it', async () => {
  const { sink, path } = await openSink()
  await Promise.all([1, 2, 3].map((call) => sink.write(event(call))))
  await sink.write(event(4))
  expect(await idsIn(path)).toEqual(['k/1', 'k/2', 'k/3', 'k/4'])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

it('the audit file keeps the lines of other workers', async () => {
  const { sink, path } = await openSink()
  const other = new FileAuditSink(path)
  await sink.write(event(1))
  await other.write(event(2))
  await sink.write(event(3))
  await other.close()
  expect(await idsIn(path)).toEqual(['k/1', 'k/2', 'k/3'])
})

it('writes to a new audit file after logrotate has renamed the old one', async () => {
  const { sink, path } = await openSink()
  await sink.write(event(1))
  await rename(path, `${path}.1`)
  const now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now + 2_000)
  await sink.write(event(2))
  vi.restoreAllMocks()
  expect(await idsIn(`${path}.1`)).toEqual(['k/1'])
  expect(await idsIn(path)).toEqual(['k/2'])
})

it('rejects audit events while the folder is missing, and works when it exists again', async () => {
  const { folder } = await openSink()
  const sink = new FileAuditSink(join(folder, 'missing', 'audit.jsonl'))
  await expect(sink.write(event(1))).rejects.toThrow('ENOENT')
  await expect(sink.write(event(2))).rejects.toThrow('ENOENT')
})
