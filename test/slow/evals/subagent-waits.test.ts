import { expect, test } from 'vitest'
import { EvalProject, task } from '../../support/evals/eval-project.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'

const module = `import { askHuman, defineAgent } from 'durable-ptc'
const ask = askHuman({ name: 'ask_office' })
const clerk = defineAgent({ name: 'clerk', description: 'Asks.', instructions: 'Ask the office.', tools: [ask] })
const desk = defineAgent({ name: 'desk', instructions: 'Ask the clerk.', tools: [], agents: [clerk] })
export const tools = [ask]
export const agents = [desk, clerk]
`

const setup = 'setup: { module: desk.ts, agent: desk }\ncheck: [{ contains: 42 }]'

const files = {
  'desk.ts': module,
  'answered.yaml': task(
    'Question answered?',
    `${setup}\nanswers: [{ tool: ask_office, contains: known, result: '42' }]`,
  ),
  'unanswered.yaml': task('Question unanswered?', setup),
}

const script = {
  conversations: ['answered', 'unanswered'].flatMap((name) => [
    {
      match: { firstUserText: `Question ${name}?` },
      turns: [turn(code(`print(await clerk(task="Clerk ${name}"))`)), answerResult],
    },
    {
      match: { firstUserText: `Clerk ${name}` },
      turns: [turn(call('ask_office', { question: 'Is it known?' })), turn(text('{{last_tool_result}}'))],
    },
  ]),
}

test('a question of a sub-agent is answered by its task, and a run without an answer fails with unanswered', async () => {
  await using evals = await EvalProject.create(files, script)
  const { code: exitCode, stderr } = await evals.run('answered.yaml', 'unanswered.yaml')
  expect(exitCode, stderr).toBe(1)
  const { samples } = await evals.latest()
  const ends = Object.fromEntries(samples.map(({ task: name, state, kind }) => [name, [state, kind]]))
  expect(ends).toEqual({ answered: ['passed', null], unanswered: ['failed', 'unanswered'] })
  expect(samples.find(({ task: name }) => name === 'unanswered')?.reason).toContain('ask_office')
})
