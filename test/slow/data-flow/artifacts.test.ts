import { expect, it } from 'vitest'
import type { DataFlowOption } from '../../../src/config/options/data-flow.js'
import { defineAgent } from '../../../src/index.js'
import { denySend, leakTools } from '../../integration/data-flow/leak-tools.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'

const inSession = (session: string, source: string) => call('execute_code', { code: source, session })
const leave = 'import os\nos.makedirs("/tmp/out", exist_ok=True)\n'

describeDocker('artifacts of labelled data', () => {
  it.each(['deny', 'ask'] as const)(
    'a rule with action %s on the answer keeps back artifacts of code that was given the data',
    async (action) => {
      const dataFlow: DataFlowOption = { rules: [{ labels: ['pii'], answer: true, action }] }
      const env = await TestEnvironment.start({
        backend: 'docker',
        tools: leakTools().tools,
        dataFlow,
        script: [
          turn(code(`${leave}open("/tmp/out/before", "w").write("x")`)),
          turn(code('open("/tmp/out/ssn", "w").write((await get_customer())["ssn"])')),
          turn(code('open("/tmp/out/later", "w").write("y")')),
          turn(text('Done.')),
        ],
      })
      const run = await env.ptc.startAgent({ question: 'Write it down.', files: [] })
      const isHeld = async () => (await run.tree()).turns.length > 3
      await expect.poll(isHeld, { timeout: 30_000 }).toBe(true)
      expect((await run.files.list()).map(({ path }) => path)).toEqual(['/tmp/out/before'])
      const told = JSON.stringify(env.api.requests.at(-1)?.body)
      expect(told).toContain(
        '[files] not kept: /tmp/out/ssn: a rule of the configuration holds back data labelled pii (get_customer in turn 2) to the answer',
      )
      expect(told).toContain('[files] not kept: /tmp/out/later: a rule')
    },
  )

  it('labelled data does not reach a denied tool by a file that one sandbox of a run gives to another', async () => {
    const { tools, sent } = leakTools()
    const agent = defineAgent({ name: 'analyst', instructions: 'Analyse.', files: true, sessions: ['etl', 'web'] })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools,
      agents: [agent],
      dataFlow: denySend,
      script: [
        turn(inSession('etl', `${leave}open("/tmp/out/a", "w").write((await get_customer())["ssn"])`)),
        turn(
          call('share_file', { path: 'a', session: 'etl' }),
          inSession('web', 'print(await send(text=open("/tmp/in/shared/etl/a").read()))'),
          code('print(await send(text=open("/tmp/in/shared/etl/a").read()))'),
        ),
        turn(text('Done.')),
      ],
    })
    const run = await env.ptc.startAgent({ agent: 'analyst', question: 'Send it.' })
    expect(await run.result()).toMatchObject({ status: 'answered' })
    expect(sent).toEqual([])
    // Calls of a session have no turn of the run.
    const refused = /denies data labelled pii \(get_customer in turn 0\) to send/g
    expect(JSON.stringify(env.api.requests.at(-1)?.body).match(refused)).toHaveLength(2)
  })

  it('a rule on a tool keeps no artifact back', async () => {
    const dataFlow: DataFlowOption = { rules: [{ labels: ['pii'], tools: ['send'], action: 'deny' }] }
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: leakTools().tools,
      dataFlow,
      script: [turn(code(`${leave}open("/tmp/out/a", "w").write((await get_customer())["ssn"])`)), answerResult],
    })
    const run = await env.ptc.startAgent({ question: 'Write it down.', files: [] })
    expect(await run.result()).toMatchObject({ status: 'answered' })
    expect(await run.files.list()).toHaveLength(1)
  })
})
