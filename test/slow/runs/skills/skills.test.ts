import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent } from '../../../../src/index.js'
import { backends } from '../../../support/environment/backends.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { DeferredToolCalls } from '../../../support/deferred-tool.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { skillsFolder, skillText, writeFiles } from '../../../support/skills/skill-folder.js'
import { tool } from '../../../support/tools.js'

const report = {
  'report/SKILL.md': skillText('report', 'Run scripts/total.py with the numbers.'),
  'report/scripts/total.py': 'import sys\nprint("version 1:", sum(int(each) for each in sys.argv[1:]))\n',
}

const runScript = `
import runpy, sys
sys.argv = ["total.py", "1", "2"]
_ = runpy.run_path("/skills/report/scripts/total.py", run_name="__main__")
`

const requestTexts = (env: TestEnvironment) => env.api.requests.map(({ body }) => JSON.stringify(body))

it.each(backends)('a model activates a skill and runs its script, in %s', async (backend) => {
  const env = await TestEnvironment.start({
    backend,
    skills: await skillsFolder(report),
    script: [turn(call('activate_skill', { name: 'report' })), turn(code(runScript)), answerResult],
  })
  expect((await env.runAgent()).answer).toBe('version 1: 3')
  const [first, second] = requestTexts(env)
  expect(first).toContain('- report: What report is for.')
  expect(first).not.toContain('Run scripts/total.py')
  expect(second).toContain('Run scripts/total.py with the numbers.')
  expect(second).toContain('- /skills/report/scripts/total.py')
})

it.each(backends)(
  'a parked run has the files of its start when its sandbox, its worker and the folder are others, in %s',
  async (backend) => {
    const calls = new DeferredToolCalls()
    const skills = await skillsFolder(report)
    const env = await TestEnvironment.start({
      backend,
      skills,
      tools: [calls.tool('approve')],
      timeouts: { park: '100ms' },
      script: [
        turn(call('activate_skill', { name: 'report' })),
        turn(code('await approve(id=1)')),
        turn(code(runScript)),
        turn(call('deactivate_skill', { name: 'report' }), call('activate_skill', { name: 'late' })),
        turn(code('import os; print(sorted(os.listdir("/skills")))')),
        answerResult,
      ],
    })
    const handle = await env.startAgent()
    const token = await calls.token(1)
    await expect.poll(() => env.containers(handle)).toEqual([])
    await writeFiles(skills, {
      'report/scripts/total.py': 'print("version 2")\n',
      'late/SKILL.md': skillText('late'),
      'late/data.txt': 'x',
    })
    await env.workers.stop()
    await env.workers.start()
    await env.ptc.completeCall(token, { approved: true })
    expect(await env.agentResult(handle)).toMatchObject({ answer: "['report']" })
    const texts = requestTexts(env)
    expect(texts.at(3)).toContain('version 1: 3')
    expect(texts.at(4)).toContain('there is no skill \\"late\\"')
    expect(texts.join('')).not.toContain('version 2')
    await env.expectCleanEnd(handle)
  },
)

const limited = {
  'limited/SKILL.md': skillText('limited', 'Only look.', ['allowed-tools: look_* Bash(git:*)']),
}
const looking = [tool('look_up', () => 'found'), tool('pay', () => 'paid')]

it('a skill restricts direct calls and calls of code to its tools, until it is deactivated', async () => {
  const source = `
print(await look_up())
try: print(await pay())
except ToolDenied as error: print(error)
`
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder(limited),
    tools: looking,
    script: [
      // The restriction applies to all tool uses of the reply.
      turn(code(source), call('pay'), call('activate_skill', { name: 'limited' })),
      turn(call('deactivate_skill', { name: 'limited' }), call('pay'), code(source)),
      turn(code(source)),
      answerResult,
    ],
  })
  expect((await env.runAgent()).answer).toBe('found\npaid')
  const [, second, third] = requestTexts(env)
  for (const request of [second, third]) {
    expect(request).toContain('found\\npay may not be called while skill limited is active')
    expect(request).toContain('[denied] pay may not be called while skill limited is active: it allows only look_up')
  }
  expect(second).toContain('(this run has no Bash(git:*))')
})

it('a restriction applies after the run has continued as new', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder(limited),
    tools: looking,
    limits: { historyEvents: 10 },
    script: [
      turn(call('activate_skill', { name: 'limited' })),
      turn(call('look_up')),
      turn(call('look_up')),
      turn(call('pay')),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  expect((await env.agentResult(handle)).answer).toContain('pay may not be called while skill limited is active')
  expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
  await env.expectCleanEnd(handle)
})

it('the start of a run activates a hidden skill, which the model can neither see nor end', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder({
      ...limited,
      'secret/SKILL.md': skillText('secret', 'Say please.', [
        'disable-model-invocation: true',
        'allowed-tools: [look_up]',
      ]),
    }),
    tools: looking,
    script: [
      turn(call('deactivate_skill', { name: 'secret' }), call('activate_skill', { name: 'secret' })),
      turn(call('pay')),
      answerResult,
    ],
  })
  const { answer } = await env.runAgent({ activeSkills: ['secret'] })
  expect(answer).toContain('pay may not be called while skill secret is active: it allows only look_up')
  const [first, second] = requestTexts(env)
  expect(first).toContain('Say please.')
  expect(first).not.toContain('- secret:')
  expect(second).toContain('skill secret was activated by the user, and stays active')
  const handle = await env.startAgent()
  await env.agentResult(handle)
  expect(requestTexts(env).at(-3)).not.toContain('secret')
})

it('an agent has the skills that it names, and a run with none has no tools for skills', async () => {
  const agent = (name: string, skills: readonly string[]) => defineAgent({ name, instructions: 'Work.', skills })
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder({ ...report, ...limited }),
    agents: [agent('reporter', ['rep*']), agent('plain', [])],
    script: [turn(text('done'))],
  })
  await env.runAgent({ agent: 'reporter' })
  await env.runAgent({ agent: 'plain' })
  const [first = '', second = ''] = requestTexts(env)
  expect(first).toContain('- report: ')
  expect(first).not.toContain('limited')
  expect(second).not.toContain('skill')
  const refused = await env.startAgent({ agent: 'plain', activeSkills: ['report'] })
  await expect(refused.result()).rejects.toMatchObject({ cause: { cause: { type: 'SKILL_UNKNOWN' } } })
})

it('a run whose sandbox can not have the files of its skills does not start', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder(report),
    script: [turn(text('done'))],
  })
  for (const options of [{ session: 'shared' }, { language: 'javascript' }]) {
    const refused = await env.startAgent(options)
    await expect(refused.result()).rejects.toMatchObject({ cause: { cause: { type: 'SANDBOX_FILES_UNSUPPORTED' } } })
  }
  expect(env.api.requests).toEqual([])
})

it('the instructions of an active skill are in the prompt after a compaction', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder({ 'poet/SKILL.md': skillText('poet', 'Answer in rhymes.') }),
    tools: [tool('step', ({ number }) => `step ${JSON.stringify(number)} ${'x'.repeat(4_000)}`)],
    model: { contextWindow: 8_000, maxTokens: 500 },
    script: {
      conversations: [
        { match: { firstUserText: '<transcript>' }, turns: [turn(text('a summary'))] },
        {
          turns: [
            { ...turn(text('done')), match: { lastToolResult: 'no longer apply' } },
            { ...turn(call('deactivate_skill', { name: 'poet' })), match: { lastToolResult: 'step 9 ' } },
            ...Array.from({ length: 8 }, (_, index) => ({
              ...turn(call('step', { number: index + 2 })),
              match: { lastToolResult: `step ${index + 1} ` },
            })),
            { ...turn(call('step', { number: 1 })), match: { lastToolResult: 'Answer in rhymes.' } },
            turn(call('activate_skill', { name: 'poet' })),
          ],
        },
      ],
    },
  })
  expect((await env.runAgent()).answer).toBe('done')
  const systems = env.api.requests.map(({ body }) =>
    JSON.stringify(z.looseObject({ system: z.unknown() }).parse(body).system),
  )
  expect(systems[0]).not.toContain('Answer in rhymes.')
  expect(systems.at(-2)).toContain('Answer in rhymes.')
  expect(systems.at(-1)).not.toContain('Answer in rhymes.')
})

it('a run fails with a typed error when the content of a skill is gone', async () => {
  const calls = new DeferredToolCalls()
  const env = await TestEnvironment.start({
    backend: 'wasm',
    skills: await skillsFolder(report),
    tools: [calls.tool('approve')],
    script: [turn(call('approve', { id: 1 })), turn(code(runScript)), turn(text('done'))],
    retryForMs: 1,
  })
  const handle = await env.startAgent()
  const token = await calls.token(1)
  await env.workers.stop()
  // An empty folder is a store without values; a missing one is a disk that is not mounted.
  for (const name of await readdir(env.valuesDirectory)) await rm(join(env.valuesDirectory, name), { recursive: true })
  await env.workers.start()
  await env.ptc.completeCall(token, { approved: true })
  await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'VALUE_MISSING' } } })
})
