import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { answerResult, call, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const config = fileURLToPath(new URL('../../fixtures/ledger.config.ts', import.meta.url))

/** Each language makes a call, then two at once, and keeps a variable. */
const programs = {
  python: `import asyncio
first = (await charge(name="python-1"))["done"]
await asyncio.gather(charge(name="python-2"), charge(name="python-3"))`,
  javascript: `const first = (await charge({ name: 'javascript-1' })).done
await Promise.all([charge({ name: 'javascript-2' }), charge({ name: 'javascript-3' })])`,
  bash: `first=$(tool charge name=bash-1 | jq -r .done)
tool charge name=bash-2 >/dev/null &
tool charge name=bash-3 >/dev/null & wait`,
}

const cell = (language: string, code: string) => turn(call('execute_code', { language, code }))

const script = [
  ...Object.entries(programs).map(([language, code]) => cell(language, code)),
  cell('python', 'open("firsts", "w").write(first + " ")'),
  cell('javascript', `(await import('node:fs')).appendFileSync('firsts', first + ' ')`),
  cell('bash', 'cat firsts; echo $first'),
  answerResult,
]

const effects = Object.keys(programs).flatMap((language) => [1, 2, 3].map((number) => `${language}-${number}`))

/** @param lostWith name of the effect during which the container is killed */
async function expectSurvives(crashes: readonly Crash[], lostWith?: string): Promise<void> {
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
    config,
    script,
    environment: { TEST_BACKEND: 'docker', TEST_WARM: '0' },
  })
  if (lostWith !== undefined) ledger.holdReplies(lostWith)
  const handle = await env.startAgent({ language: Object.keys(programs) })
  if (lostWith !== undefined) {
    await ledger.waitForRequests(lostWith)
    expect(await killContainersOf(handle.workflowId)).toBe(1)
    ledger.releaseReplies(lostWith)
  }
  expect(await env.agentResult(handle)).toMatchObject({
    status: 'answered',
    answer: 'python-1 javascript-1 bash-1',
    cells: 6,
    toolCalls: 9,
  })
  expect(ledger.appliedNames).toEqual(effects.toSorted())
  expect(deaths()).toBe(crashes.length)
  await env.expectCleanEnd(handle)
}

describeDocker('cells in three languages in one run', () => {
  it.each([
    ['frame.sent', 1],
    ['step.result', 2],
    ['tool.ran', 4],
    ['tool.begins', 8],
  ] as const satisfies readonly (readonly [Failpoint, number])[])(
    'no effect is lost or repeated when a worker is killed at %s, hit %i',
    (point, hit) => expectSurvives([{ point, hit }]),
  )

  it.each(effects.filter((name) => name.endsWith('-2')))(
    'no effect is lost or repeated when the container is killed during %s',
    (name) => expectSurvives([], name),
  )

  it('no effect is lost or repeated when a worker dies in a rebuild', () =>
    expectSurvives([{ point: 'step.repeated', hit: 2 }], 'bash-3'))
})
