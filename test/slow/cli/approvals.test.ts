import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.js'
import { pay } from '../../support/cli/pay-tool.js'
import { TestProject } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

it('a person at the parent of a sub-agent is told what it waits for, and can decide', async () => {
  const about = { instructions: 'You are an agent of a test.', description: 'An agent of a test.' }
  const payer = defineAgent({ name: 'payer', ...about, tools: ['pay'] })
  const chief = defineAgent({ name: 'chief', ...about, agents: [payer] })
  const source = 'print(await pay(euros=1))\nprint(await pay(euros=2))'
  const env = await TestEnvironment.start({
    tools: [pay],
    agents: [payer, chief],
    script: {
      conversations: [
        {
          match: { firstUserText: { equals: 'go' } },
          turns: [turn(call('payer', { task: 'invoices' })), answerResult],
        },
        { match: { firstUserText: { equals: 'invoices' } }, turns: [turn(code(source)), answerResult] },
      ],
    },
  })
  const { workflowId: id } = await env.startAgent({ agent: 'chief' })
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const terminal = PseudoTerminal.start(project, 'watch', id)
  await terminal.waitForScreen(/pay\(euros=1\)[^]*approve\?/)
  const { stdout: shown } = await project.run('show', id)
  const [, child = ''] = /pay 1 waits for approval, since .*: ptc approve (\S+), or ptc deny/.exec(shown) ?? []
  expect(child).toMatch(/^payer-/)
  expect((await project.run('approvals', id)).stdout).toContain('pay 1 waits for approval\n')
  terminal.type('y\r')
  await terminal.waitForScreen(/the call is approved[^]*pay\(euros=2\)[^]*approve\?/)
  expect(await project.run('approve', id, '--by', 'ada')).toMatchObject({ code: 0, stderr: 'the call is approved\n' })
  await terminal.waitForScreen(/no longer needed[^]*paid 2/)
  expect(await terminal.exitCode).toBe(0)
  expect(await env.ptc.handle(child).tree()).toMatchObject({ status: 'completed', waitsFor: [] })
})

it('ptc answer says how to answer a question whose tool wants another result than a text', async () => {
  const confirm = defineTool({
    name: 'confirm',
    description: 'Asks.',
    input: z.object({ question: z.string() }),
    output: z.object({ ok: z.boolean() }),
    effect: 'idempotent',
    deferred: { expires: '1h' },
    run: () => undefined,
  })
  const env = await TestEnvironment.start({ tools: [confirm] })
  const { workflowId: id } = await env.startProgram('print(await confirm(question="Sure?"))')
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const states = () => env.ptc.handle(id).describe()
  // At once, and not after a minute.
  await expect.poll(states).toMatchObject({ state: 'waiting_for_result' })
  const refused = await project.run('answer', id, 'yes')
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`ptc answer ${id} --result JSON`) })
  expect(await project.run('answer', id, '--result', '{"ok": true}')).toMatchObject({ code: 0 })
  expect(await env.ptc.handle(id).result()).toMatchObject({ outcome: { output: "{'ok': True}\n" } })
})

it('ptc approvals RUN --watch prints each new wait once, also after the workers were away, until it is interrupted', async () => {
  const env = await TestEnvironment.start({ tools: [pay], backend: 'wasm' })
  const { workflowId: other } = await env.startProgram('print(await pay(euros=7))')
  const { workflowId: id } = await env.startProgram(`
import asyncio
print(await asyncio.gather(*(pay(euros=n) for n in (1, 2))))
print(await pay(euros=3))`)
  await expect.poll(async () => (await env.ptc.waits({ run: id })).length).toBe(2)
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const watch = project.start('approvals', id, '--watch')
  await watch.waitForOutput(/pay 1 waits for approval[^]*pay 2 waits for approval/, 'stdout')
  await env.workers.stop()
  await watch.waitForOutput(/no worker takes tasks from .*; trying again\n/)
  await env.workers.start()
  for (const { wait } of await env.ptc.waits({ run: id }))
    if (wait.type === 'approval') await env.ptc.approveCall(wait.token)
  await watch.waitForOutput(new RegExp(`pay 3 waits for approval\n  ptc approve ${id}, or `), 'stdout')
  await env.ptc.handle(id).cancel()
  // The command goes on when the run has ended.
  await expect.poll(async () => (await env.ptc.handle(id).describe()).status).toBe('cancelled')
  watch.signal('SIGINT')
  const { code, stdout, stderr } = await watch.result
  expect(code).toBe(130)
  expect(stderr.match(/trying again/g)).toHaveLength(1)
  expect(stdout.match(/pay \d waits/g)).toEqual(['pay 1 waits', 'pay 2 waits', 'pay 3 waits'])
  expect(stdout).not.toContain(other)
})
