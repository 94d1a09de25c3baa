import { expect, it } from 'vitest'
import { containersOf, killContainersOf } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

describeDocker('an agent whose language is bash', () => {
  it('an agent runs bash, keeps its variables and its mode, and calls tools one after another and at once', async () => {
    const square = tool('square', ({ n }) => Number(n) ** 2)
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [square],
      script: [
        turn(code('set -o posix\nsum=0\nfor n in 1 2 3; do sum=$((sum + $(tool square n=$n))); done')),
        turn(code('tool square n=4 >4 &\necho \'{"n": 5}\' | tool square - >5 &\nwait\necho $sum $(cat 4 5)')),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ language: 'bash' })
    expect(await env.agentResult(handle)).toMatchObject({
      status: 'answered',
      answer: '14 16 25',
      cells: 2,
      toolCalls: 5,
    })
    await env.expectCleanEnd(handle)
  })

  it('a script is rebuilt when its container dies while it waits for a call', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const calls: unknown[] = []
    const slow = tool('slow', async ({ id }) => {
      calls.push(id)
      if (id !== 'b') return 1
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({
      backend: 'docker',
      tools: [slow],
      script: [
        turn(code('seen="$RANDOM $(date +%s)"\ntool slow id=a')),
        turn(code('sleep 2\nbefore=$seen\ntool slow id=b\n[[ $before == "$seen" ]] && echo same')),
        answerResult,
      ],
    })
    const handle = await env.startAgent({ language: 'bash' })
    await called.promise
    expect(await containersOf(handle.workflowId)).toHaveLength(1)
    await killContainersOf(handle.workflowId)
    released.resolve(2)
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: '2\nsame' })
    expect(calls).toEqual(['a', 'b'])
    await env.expectCleanEnd(handle)
  })
})
