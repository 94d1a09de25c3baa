import { expect, it, vi } from 'vitest'
import { askHuman, type HumanQuestion } from '../../../src/index.js'
import { pay } from '../../support/cli/pay-tool.js'
import { TestProject } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { pollOptions } from '../../support/poll-options.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

it('ptc approve and ptc deny decide on the waiting calls of a run', async () => {
  const env = await TestEnvironment.start({ tools: [pay] })
  const { workflowId: id } = await env.startProgram(`
import asyncio
print(await asyncio.gather(*(pay(euros=n) for n in (1, 2, 3)), return_exceptions=True))
print(await pay(euros=4))`)
  const waiting = async () => {
    const tree = await env.ptc.handle(id).tree()
    if (tree.status !== 'running') throw new Error(`the run has ended: ${JSON.stringify(tree)}`)
    return tree.turns.flatMap(({ cells }) => cells.flatMap(({ calls }) => calls.filter(({ approval }) => approval)))
  }
  await vi.waitUntil(async () => (await waiting()).length === 3, pollOptions)
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const call = (n: number) => `turn-0.cell-1.call-${n}`

  const { stdout: shown } = await project.run('show', id)
  expect(shown).toMatch(/pay\(euros=1\)[^]*waits for its approval since \S+ \S+ UTC, expires \S+ \S+ UTC/)
  const { stdout: listed } = await project.run('approvals', id)
  expect(listed).toContain(`pay 2 waits for approval\n  ptc approve ${id} ${call(2)}, or `)

  const unclear = await project.run('approve', id)
  expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining(`${call(1)}, ${call(2)}, ${call(3)}`) })
  const unknown = await project.run('approve', id, call(9))
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining(`no call ${call(9)} of run ${id} waits`) })
  const tooMuch = await project.run('approve', id, call(1), '--arguments', '{"euros": 1000}')
  expect(tooMuch).toMatchObject({ code: 1, stderr: expect.stringContaining('euros') })
  expect((await project.run('approve', id, call(1), '--arguments', '[1]')).code).toBe(2)

  const approved = await project.run('approve', id, call(1), '--arguments', '{"euros": 10}', '--by', 'ada')
  expect(approved).toMatchObject({ code: 0, stderr: 'the call is approved\n' })
  const denied = await project.run('deny', id, call(2), '--reason', 'no money')
  expect(denied).toMatchObject({ code: 0, stderr: 'the call is denied\n' })
  const [third] = (await waiting()).filter(({ position }) => position.index === 3)
  const byToken = await project.run('approve', third?.approval?.completionToken ?? '')
  expect(byToken).toMatchObject({ code: 0, stderr: 'the call is approved\n' })

  await expect.poll(async () => (await waiting()).map(({ position }) => position.index)).toEqual([4])
  const { taskQueue } = env.ptc
  await project.write('ptc.config.ts', `export default { tools: [], taskQueue: '${taskQueue}' }`)
  const waits = () => project.run('approvals', '--config', 'ptc.config.ts')
  const command = `ptc approve ${id}, or ptc deny ${id} --reason TEXT`
  await expect
    .poll(async () => (await waits()).stdout)
    .toMatch(new RegExp(`^${id} .*\n  pay 4 waits for approval\n  ${command}\n$`))
  const openRuns = await project.run('list', '--config', 'ptc.config.ts', '--status', 'waiting_for_approval')
  expect(openRuns.stderr).toContain('1 of them waits: `ptc approvals` says for what, and how to continue\n')
  expect(openRuns.stdout).toMatch(new RegExp(`\n${id} +waiting for approval `))
  expect(await project.run('approve', '--config', 'ptc.config.ts')).toMatchObject({ code: 0 })
  expect(await env.ptc.handle(id).result()).toMatchObject({
    outcome: { output: "['paid 10', ToolDenied('pay was not approved: no money'), 'paid 3']\npaid 4\n" },
  })
  const { stdout: after } = await project.run('show', id)
  expect(after).toMatch(/pay\(euros=10\)[^]*approved by ada at [^]*arguments replaced; they were: euros=1\n/)
  const late = await project.run('deny', id, '--reason', 'too late')
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining(`no call of run ${id} waits for approval`) })
})

it('ptc answer answers the questions of a run', async () => {
  const questions: HumanQuestion[] = []
  const env = await TestEnvironment.start({ tools: [askHuman({ onQuestion: (each) => void questions.push(each) })] })
  const { workflowId: id } = await env.startProgram(
    `
import asyncio
print(await asyncio.gather(ask_human(question="Which?"), ask_human(question="When?")))
print(await ask_human(question="Who?"))`,
    { context: { user: 'ada' } },
  )
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  await expect.poll(() => questions.length).toBe(2)
  expect(questions).toContainEqual(
    expect.objectContaining({
      question: 'Which?',
      context: { user: 'ada' },
      run: expect.objectContaining({ workflowId: id }),
    }),
  )
  await expect.poll(async () => (await project.run('answer', id, 'INV-8')).stderr).toContain('2 calls of run')
  const answered = await project.run('answer', id, 'INV-8', '--call', 'turn-0.cell-1.call-1')
  expect(answered).toMatchObject({ code: 0, stderr: 'the question is answered\n' })
  const { token = '' } = questions.find(({ question }) => question === 'When?') ?? {}
  expect(await project.run('answer', token, 'tomorrow')).toMatchObject({ code: 0 })
  await expect.poll(() => questions.length).toBe(3)
  await expect.poll(async () => (await project.run('answer', id, 'me')).code).toBe(0)
  expect(await env.ptc.handle(id).result()).toMatchObject({ outcome: { output: "['INV-8', 'tomorrow']\nme\n" } })
})

it('a person at the terminal of a run decides: approves with other arguments, and answers a question', async () => {
  const env = await TestEnvironment.start({ tools: [pay, askHuman()] })
  const { workflowId: id } = await env.startProgram(`
print(await pay(euros=1))
print(await ask_human(question="Which?"))
try:
    await pay(euros=2)
except ToolDenied as error:
    print(error)`)
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const terminal = PseudoTerminal.start(project, 'watch', id)
  await terminal.waitForScreen(/pay\(euros=1\)[^]*approve\?/)
  terminal.type('e\r')
  await terminal.waitForScreen(/arguments: \{"euros":1\}/)
  terminal.type('\u007f0}\r')
  await terminal.waitForScreen(
    /the call is approved[^]*Which\? waits for an answer[^]*answer \(Enter: decide later\): /,
  )
  terminal.type('the blue one\r')
  await terminal.waitForScreen(/the question is answered[^]*approve\?/)
  // Another person may decide meanwhile.
  await expect.poll(async () => (await project.run('deny', id, '--reason', 'no money')).code).toBe(0)
  await terminal.waitForScreen(/no longer needed[^]*paid 10\s+the blue one\s+pay was not approved: no money/)
  expect(await terminal.exitCode).toBe(0)
})
