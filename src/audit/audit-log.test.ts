import { expect, it } from 'vitest'
import { AuditLog, type AuditEvent, type NewAuditEvent } from './audit-log.js'
import { openTelemetryAuditSink } from './open-telemetry-sink.js'

const event: NewAuditEvent = {
  id: 'k/call.refused',
  workflowId: 'w',
  runId: 'r',
  attempt: 1,
  index: 1,
  tool: 'x',
  digest: 'd',
  type: 'call.refused',
  status: 'denied',
}

function createLog(failures: number, retryForMs: number) {
  const written: AuditEvent[] = []
  const lost: string[] = []
  let calls = 0
  const sink = {
    write(each: AuditEvent) {
      calls += 1
      if (calls <= failures) return Promise.reject(new Error('disk full'))
      written.push(each)
      return Promise.resolve()
    },
  }
  const options = { sink, namespace: 'default', includesCode: false, redact: (code: string) => code, retryForMs }
  return { log: new AuditLog({ ...options, onLost: (message) => lost.push(message) }), written, lost }
}

it('writes an event again after the sink rejected it', async () => {
  const { log, written } = createLog(2, 5_000)
  await log.before(event, new AbortController().signal)
  expect(written).toMatchObject([{ ...event, namespace: 'default' }])
})

it('an audited effect fails before it starts when the sink stays unavailable', async () => {
  const { log } = createLog(Number.POSITIVE_INFINITY, 0)
  const before = log.before(event, new AbortController().signal)
  await expect(before).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE', retryable: true })
})

it('reports an event that was lost after the effect, and does not fail', async () => {
  const { log, lost } = createLog(Number.POSITIVE_INFINITY, 0)
  await log.after(event)
  expect(lost).toEqual(['audit event k/call.refused was lost: disk full'])
})

it('emits audit events as log records of OpenTelemetry', async () => {
  const records: object[] = []
  const sink = openTelemetryAuditSink({ emit: (record) => records.push(record) })
  await sink.write({ ...event, time: '2026-01-01T00:00:00.000Z', namespace: 'default' })
  const toolUseCaller = { type: 'code_execution_20260120', tool_id: 'toolu_1' }
  const ofCall = { caller: 'code_execution', toolUseCaller, turn: 1, cell: 1, call: 'k', type: 'call.started' }
  await sink.write({ ...event, ...ofCall, time: '2026-01-01T00:00:00.000Z', namespace: 'default' } as AuditEvent)
  expect(records.pop()).toMatchObject({
    attributes: {
      'ptc.audit.toolUseCaller.type': 'code_execution_20260120',
      'ptc.audit.toolUseCaller.tool_id': 'toolu_1',
    },
  })
  expect(records).toMatchObject([
    { eventName: 'ptc.audit.call.refused', attributes: { 'ptc.audit.id': 'k/call.refused', 'ptc.audit.tool': 'x' } },
  ])
})
