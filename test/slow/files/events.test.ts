import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../src/index.js'
import { createPtcClient } from '../../../src/client/index.js'
import { fileStream } from '../../../src/stream/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'

const leave =
  'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/b.txt", "w").write(open("/tmp/in/a.txt").read())'

describeDocker('events of files', () => {
  it('the live stream and the audit log have the uploads and artifacts of a run, and no content', async () => {
    const audited: AuditEvent[] = []
    const write = (event: AuditEvent) => {
      audited.push(event)
      return Promise.resolve()
    }
    const stream = fileStream({ folder: await temporaryFolder() })
    const env = await TestEnvironment.start({ backend: 'docker', tools: [], stream, audit: { sink: { write } } })
    const { client, taskQueue } = env
    const ptc = createPtcClient({ client, taskQueue, stream })
    const files = [{ data: 'secret text', path: 'a.txt' }]
    const run = await ptc.startProgram({ source: leave, files, context: { user: 'ada' } })
    const events = []
    for await (const event of run.stream()) events.push(event)
    const file = { bytes: 11, mediaType: 'text/plain', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }
    const expected = [
      { type: 'file.uploaded', path: '/tmp/in/a.txt', ...file },
      { type: 'cell.started' },
      { type: 'cell.completed' },
      { type: 'file.kept', path: '/tmp/out/b.txt', ...file },
    ]
    expect(events.filter(({ type }) => /^(file|cell)\./.test(type))).toMatchObject(expected)
    expect(audited.filter(({ type }) => /^(file|cell)\./.test(type))).toMatchObject(
      expected.map((event) => ({ ...event, user: 'ada', workflowId: run.workflowId })),
    )
    expect(JSON.stringify([events, audited])).not.toContain('secret text')
    await env.expectCleanEnd(client.workflow.getHandle(run.workflowId))
  })
})
