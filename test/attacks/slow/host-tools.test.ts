import { randomUUID } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import { describe, expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { ledgerConfig } from '../../support/environment/ledger-environment.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'
import { canaryPrefix } from '../support/attack-environment.js'
import { attackHostTools } from '../support/host-tool-attacks.js'
import { readableText } from '../support/readable-text.js'

describeDocker('a hostile program and the tools of its host, in a container', () => {
  attackHostTools('docker')

  it('B17 a rebuild that makes other calls has no effect, and the cell ends as diverged', async () => {
    const released = new Deferred<string>()
    const called = new Deferred()
    const ran: unknown[] = []
    const stack = await TestEnvironment.start({
      tools: [
        tool('effect', (input) => ran.push(input)),
        tool('wait', () => {
          called.resolve()
          return released.promise
        }),
      ],
    })
    const source = 'await effect(random=open("/proc/sys/kernel/random/uuid").read())\nawait wait()\nprint("never")'
    const handle = await stack.startProgram(source)
    await called.promise
    await stack.killContainers(handle)
    released.resolve('go on')
    const { outcome } = (await handle.result()) as ProgramResult
    expect(outcome).toMatchObject({ status: 'diverged' })
    expect(ran).toHaveLength(1)
    await stack.expectCleanEnd(handle)
  })

  it('A17 finds the secret of a worker process in no output, history or log', async () => {
    const canary = `${canaryPrefix}${randomUUID()}`
    const env = await TestEnvironment.startProcesses({
      script: [turn(code('import os\nprint(dict(os.environ))')), answerResult],
      config: ledgerConfig,
      environment: {
        ANTHROPIC_API_KEY: canary,
        PTC_ATTACK_CANARY: canary,
        LEDGER_URL: `http://127.0.0.1:1/${canary}`,
      },
      initialWorkers: [{ hostId: uniqueName('attacked') }],
    })
    const resultAndHistory = async (handle: WorkflowHandle): Promise<string> => {
      const result: unknown = await handle.result()
      return `${JSON.stringify(result)}\n${readableText((await handle.fetchHistory()).events)}`
    }
    const seen = [
      await resultAndHistory(await env.startAgent({ question: 'What is in your environment?' })),
      // The tool fails. Its message contains neither the address nor its credentials.
      await resultAndHistory(
        await env.startProgram('try: await send_once(name="x")\nexcept ToolError as e: print("failed", e)\nos'),
      ),
    ]
    expect(seen[0]).toContain('PYTHONHASHSEED')
    expect(seen[1]).toContain('failed')
    for (const each of [...seen, env.workers.log]) expect(each.includes(canary)).toBe(false)
  })
})

describe('a hostile program and the tools of its host, in the embedded sandbox', () => attackHostTools('wasm'))
