import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../src/audit/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainer } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { call, code, text, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

const readEvents = async (file: string): Promise<readonly AuditEvent[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent)

describeDocker('the audit log of a run', () => {
  it('has code, calls and refusals, each begin before its effect, once after a rebuild, and no argument', async () => {
    const file = join(await temporaryFolder(), 'audit.jsonl')
    const called = new Deferred()
    const go = new Deferred<string>()
    const seenByTool: (readonly string[])[] = []
    const env = await TestEnvironment.start({
      backend: 'docker',
      audit: { file },
      tools: [
        tool('pay', async () => {
          seenByTool.push((await readEvents(file)).map(({ kind }) => kind))
          return null
        }),
        tool('wait', () => {
          called.resolve()
          return go.promise
        }),
      ],
      script: [
        turn(
          code(
            'await pay(iban="DE89-secret")\nawait wait()\ntry:\n    await no_such_tool()\nexcept Exception as error:\n    print(error)',
          ),
        ),
        turn(call('no_tool_either')),
        turn(text('done')),
      ],
    })
    const handle = await env.startAgent({ context: { user: 'ada', tenant: 'acme', secret: 'token' } })
    await called.promise
    await killContainer(handle)
    go.resolve('')
    await env.agentResult(handle)
    const events = await readEvents(file)
    const kinds = events.map(({ kind }) => kind)
    expect(seenByTool).toEqual([['model.replied', 'code.begins', 'call.begins']])
    expect(kinds.filter((kind) => kind === 'call.begins')).toHaveLength(2)
    expect(events).toContainEqual(expect.objectContaining({ kind: 'call.ends', tool: 'pay', status: 'ok', cell: 1 }))
    expect(events).toContainEqual(expect.objectContaining({ kind: 'code.begins', cell: 1, epoch: 1 }))
    expect(kinds.filter((kind) => kind === 'code.begins')).toHaveLength(1)
    expect(events).toContainEqual(expect.objectContaining({ kind: 'call.refused', tool: 'no_tool_either' }))
    expect(events.every(({ user, tenant }) => user === 'ada' && tenant === 'acme')).toBe(true)
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(JSON.stringify(events).includes('secret')).toBe(false)
  })
})
