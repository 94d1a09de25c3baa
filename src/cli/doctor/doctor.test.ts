import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fileStream } from '../../stream/index.js'
import { checkAuditLog } from './check-audit.js'
import { checkStream } from './check-stream.js'
import { checkTracing } from './check-tracing.js'
import { checkValues } from './check-values.js'
import { ok, withinLimit } from './check.js'

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-doctor-'))
  onTestFinished(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true })
  })
  return folder
}

const audit = (target: string) => ({ target, includesCode: false })

describe('a check', () => {
  it('a check ends at its time limit, and reports that it hangs', async () => {
    const checks = await withinLimit('Values', () => new Promise(() => undefined), 10)
    expect(checks).toMatchObject([{ name: 'Values', status: 'error', message: 'no result within 0.01 s' }])
    expect(await withinLimit('Values', () => Promise.resolve([ok('Values', 'yes')]))).toEqual([ok('Values', 'yes')])
    const throwing = withinLimit('Values', () => Promise.reject(new Error('no disk')))
    expect(await throwing).toMatchObject([{ status: 'error', message: 'no disk' }])
  })

  it.runIf(process.platform === 'linux')(
    "the check of values ends at once when its folder can't be created",
    async () => {
      const values = { store: { kind: 'local', directory: '/proc/nope' }, retryMs: 0 } as const
      const check = await checkValues({ values } as unknown as Parameters<typeof checkValues>[0], '/proc/nope')
      expect(check).toMatchObject({ status: 'error', message: expect.stringContaining('/proc/nope') })
    },
  )
})

describe('the check of the audit log', () => {
  it('the check of the audit log accepts a writable file, and leaves no file behind', async () => {
    const folder = temporary()
    expect(await checkAuditLog(audit(join(folder, 'a.jsonl')))).toMatchObject([{ name: 'Audit log', status: 'ok' }])
    expect(readdirSync(folder)).toEqual([])
    writeFileSync(join(folder, 'b.jsonl'), '')
    expect(await checkAuditLog(audit(join(folder, 'b.jsonl')))).toMatchObject([{ status: 'ok' }])
    expect(await checkAuditLog(undefined)).toEqual([])
  })

  it('the check of the audit log fails for a missing folder, and for a folder in place of the file', async () => {
    const folder = temporary()
    const missing = await checkAuditLog(audit(join(folder, 'dir', 'a.jsonl')))
    expect(missing).toMatchObject([{ status: 'error', message: expect.stringContaining('ENOENT') }])
    mkdirSync(join(folder, 'a.jsonl'))
    const taken = await checkAuditLog(audit(join(folder, 'a.jsonl')))
    expect(taken).toMatchObject([{ status: 'error', message: expect.stringContaining('EISDIR') }])
  })

  it('the check of the audit log says that a sink is not checked', async () => {
    const sink = { write: () => Promise.resolve() }
    expect(await checkAuditLog({ target: sink, includesCode: false })).toMatchObject([{ status: 'ok' }])
  })
})

describe('the check of the live stream', () => {
  it('the check of the live stream appends, reads and removes an entry', async () => {
    const folder = temporary()
    expect(await checkStream(fileStream({ folder }))).toMatchObject([{ name: 'Live stream', status: 'ok' }])
    expect(readdirSync(folder)).toEqual([])
    expect(await checkStream(undefined)).toEqual([])
  })

  it('the check of the live stream warns when the stream fails', async () => {
    const file = join(temporary(), 'file')
    writeFileSync(file, '')
    expect(await checkStream(fileStream({ folder: join(file, 'x') }))).toMatchObject([{ status: 'warning' }])
  })
})

it('the check of traces warns when no provider is registered', async () => {
  expect(await checkTracing({ name: 'traces' })).toMatchObject([
    { name: 'Traces', status: 'warning', message: expect.stringContaining('no tracer provider') },
  ])
  expect(await checkTracing(undefined)).toEqual([])
})
