import { expect, test } from 'vitest'
import type { Script, ScriptedTurn } from '../../../src/testing/index.js'
import { EvalProject, task } from '../../support/evals/eval-project.js'
import { call, code, faulty, text, turn } from '../../support/script.js'

function answering(question: string, ...turns: readonly ScriptedTurn[]) {
  return { match: { firstUserText: question }, turns }
}

const judgeCheck = (criteria: string) => `check: [{ judge: { criteria: ${criteria} } }]`

const files = {
  'pass.yaml': task('Question pass?'),
  'fail.yaml': task('Question fail?'),
  'refuse.yaml': task('Question refuse?'),
  'broken.yaml': task('Question broken?'),
  'unmetered.yaml': task('Question unmetered?'),
  'loop.yaml': task('Question loop?', 'check: [{ contains: 42 }]\nlimits: { seconds: 6 }'),
  'silent.yaml': task('Question silent?', 'check: [{ contains: 42 }]\nlimits: { seconds: 3 }'),
  'asks.yaml': task('Question asks?', 'setup: { module: asks.ts }\ncheck: [{ contains: 42 }]'),
  'asks.ts': "import { askHuman } from 'durable-ptc'\nexport const tools = [askHuman()]\n",
  'judged.yaml': task('Question judged?', judgeCheck('good')),
  'unjudged.yaml': task('Question unjudged?', judgeCheck('unreadable')),
  'throws.yaml': task('Question throws?', 'check: [{ module: { file: throws.ts } }]'),
  'throws.ts': "export function check() { throw new Error('a bug of the check') }\n",
}

const answer = turn(text('It is 42.'))

const noUsage = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }

const script: Script = {
  conversations: [
    answering('Judge the answer to the task judged', turn(call('submit_answer', { verdict: 'pass', reason: 'good' }))),
    answering(
      'Judge the answer to the task unjudged',
      ...Array.from({ length: 6 }, () => turn(call('submit_answer', { verdict: '9 of 10' }))),
    ),
    answering('Question fail?', turn(text('It is 41.'))),
    answering('Question refuse?', { reply: { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' } }),
    answering('Question broken?', faulty([{ type: 'status', status: 403, attempt: 'every' }], answer)),
    answering('Question unmetered?', { reply: { content: [{ type: 'text', text: '42' }], usage: noUsage } }),
    answering('Question loop?', turn(code('import asyncio\nwhile True: await asyncio.sleep(1)')), answer),
    answering('Question silent?', faulty([{ type: 'status', status: 529, attempt: 'every' }], answer)),
    answering('Question asks?', turn(call('ask_human', { question: 'Which?' })), answer),
    { turns: [answer] },
  ],
}

test('only verdicts are scored; errors, judges without a verdict and timeouts are told apart', async () => {
  await using evals = await EvalProject.create(files, script)
  const names = Object.keys(files).flatMap((name) => (name.endsWith('.yaml') ? [name.slice(0, -'.yaml'.length)] : []))
  const paths = names.map((name) => `${name}.yaml`)
  const {
    code: exitCode,
    stdout,
    stderr,
  } = await evals.run(...paths, '--judge-model', 'claude-sonnet-4-6', '--concurrency', '10')
  expect(exitCode, stderr).toBe(1)
  const { samples, counts, arms, finishedAt } = await evals.latest()
  const states = Object.fromEntries(samples.map(({ task: name, state, kind }) => [name, [state, kind]]))
  expect(states).toEqual({
    pass: ['passed', null],
    fail: ['failed', 'check'],
    refuse: ['failed', 'refused'],
    broken: ['error', 'MODEL_AUTH'],
    loop: ['failed', 'timed_out'],
    silent: ['error', 'not_ready'],
    unmetered: ['error', 'usage_unknown'],
    asks: ['failed', 'unanswered'],
    judged: ['passed', null],
    unjudged: ['judge_failed', 'judge'],
    throws: ['error', 'check_error'],
  })
  expect(counts).toEqual({ total: 11, passed: 2, failed: 4, errors: 4, judgeFailed: 1, notRun: 0, unfinished: 0 })
  expect(arms[0]?.passRate).toBeCloseTo(2 / 6)
  expect(stdout).toContain('2 of 6 passed, 4 errors, 1 without a verdict of the judge')
  expect(finishedAt).not.toBeNull()
  const attempts = Object.fromEntries(samples.map(({ task: name, attempt }) => [name, attempt]))
  expect(attempts).toMatchObject({ pass: 1, fail: 1, broken: 1, throws: 1, silent: 2, loop: 1 })
  // A provider that refuses a request charges nothing; the judge of a passed sample is paid.
  const spent = (name: string) => samples.find(({ task: each }) => each === name)
  expect(spent('broken')?.spent_usd).toBe(0)
  // An unknown usage counts as the whole reservation.
  expect(spent('unmetered')?.spent_usd).toBe(0.5)
  expect(spent('judged')?.spent_usd).toBeGreaterThan(spent('judged')?.cost_usd ?? 0)
})

test('repeats are distinct runs, and two evals are compared by their common tasks', async () => {
  await using evals = await EvalProject.create({ 'a.yaml': task('Question a?'), 'b.yaml': task('Question b?') }, [
    answer,
  ])
  const first = await evals.run('a.yaml', 'b.yaml', '--repeat', '3', '--label', 'first')
  expect(first, first.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('6 of 6 passed') })
  const { id, samples } = await evals.latest()
  expect(new Set(samples.map(({ workflow_id: workflow }) => workflow)).size).toBe(6)
  expect(evals.api.requests).toHaveLength(6)
  await evals.run('a.yaml', '--label', 'second')
  const second = await evals.latest()
  const { stdout, code: exitCode } = await evals.project.run('eval', 'compare', id, second.id)
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^A .* 3 of 3 passed\nB .* 1 of 1 passed\n1 common task\n/)
  expect(stdout).toMatch(/passed +100% +100% +0% +\[.*\] +newcombe/)
  expect(stdout).toContain('left out, because they differ or only one has them: b')
  const unknown = await evals.project.run('eval', 'show', 'zzz')
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no eval zzz') })
})

test('the maximum cost is reserved before a sample starts, and the rest runs when it is raised', async () => {
  const limits = 'check: [{ contains: 42 }]\nlimits: { costUsd: 0.5 }'
  const tasks = Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.yaml`, task(`Question ${name}?`, limits)]))
  const expensive: ScriptedTurn = {
    reply: { content: [{ type: 'text', text: '42' }], usage: { output_tokens: 30_000 } },
  }
  await using evals = await EvalProject.create(tasks, [expensive])
  const paths = ['a.yaml', 'b.yaml', 'c.yaml']
  // Each sample costs 0.45 US dollars: a second one could need 0.5 more.
  const bounded = await evals.run(...paths, '--max-cost', '0.9', '--concurrency', '3')
  expect(bounded, bounded.stderr).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('1 of 1 passed, 2 not run'),
  })
  expect(evals.api.requests).toHaveLength(1)
  const { id } = await evals.latest()
  const raised = await evals.run(...paths, '--max-cost', '5')
  expect(raised, raised.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`eval ${id}: 3 of 3 passed`) })
  expect(evals.api.requests).toHaveLength(3)
})

test('wrong tasks, models and options are refused before anything starts', async () => {
  const tasks = {
    'a.yaml': 'prompt: x\nchek: 1\n',
    'j.yaml': task('Question?', judgeCheck('good')),
    'ok.yaml': task('x'),
  }
  await using evals = await EvalProject.create(tasks, [answer])
  expect(await evals.run('a.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a.yaml:2: Unrecognized key: "chek"'),
  })
  expect(await evals.run('j.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no model judges the answers of j'),
  })
  expect(await evals.run()).toMatchObject({ code: 2, stderr: expect.stringContaining('--shipped') })
  expect(await evals.run('ok.yaml', '--only', 'no')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There are: ok'),
  })
  const unknown = await evals.project.run('eval', 'ok.yaml', '--model', 'openai/no-such-model', '--max-cost', '1')
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('price of openai/no-such-model is unknown'),
  })
  const scripted = await evals.project.run('eval', 'ok.yaml', '--model', 'scripted')
  expect(scripted).toMatchObject({ code: 2, stderr: expect.stringContaining('task ok has no script solution') })
  expect(evals.api.requests).toEqual([])
})
