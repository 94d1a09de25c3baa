import { describe, expect, it } from 'vitest'
import { activitySummaries } from '../../support/environment/activity-summaries.js'
import { backends } from '../../support/environment/backends.js'
import { modelCallsWait, runWithLostSandbox } from '../../support/environment/rebuilt-agent.js'

/** Code that no sandbox can repeat. */
const unrepeatable = {
  docker: 'import subprocess\nsecret = subprocess.check_output(["head", "-c", "8", "/dev/urandom"]).hex()',
  wasm: 'import time\nsecret = str(time.perf_counter_ns())',
}

describe.each(backends)('code that makes other calls in a rebuild, in %s', (backend) => {
  const reason = (call: number) => `in cell 1, call ${call} was \`echo \\w+\` before, and now is \`echo \\w+\``

  it('code that makes other calls in a rebuild ends as diverged, and the model gets the call', async () => {
    const { result, cellResults, notes, env, handle } = await runWithLostSandbox(backend, [
      `${unrepeatable[backend]}\nawait note(made="once")\nawait echo(value=secret)\nprint(await wait())`,
      'print("secret" in globals(), await echo(value="works"))',
    ])
    expect(result).toMatchObject({ status: 'answered', answer: 'False works' })
    expect(cellResults[0]).toMatchObject({
      is_error: true,
      content: expect.stringMatching(new RegExp(`^\\[diverged\\] [^\n]*: ${reason(2)}\\.\nAll variables are gone`)),
    })
    expect(notes).toEqual([{ made: 'once' }])
    // The output of `ptc show`.
    const { turns } = await env.ptc.handle(handle.workflowId).tree()
    const cell = { status: 'diverged', error: expect.stringMatching(new RegExp(`^${reason(2)}`)) }
    expect(turns[0]).toMatchObject({ cells: [cell] })
    // Visible in the Temporal UI without opening an event.
    const closed = new RegExp(`^close the session, which diverged: ${reason(2)}$`)
    expect(await activitySummaries(env)).toContainEqual(expect.stringMatching(closed))
  })

  it('a rebuild reports a divergence in an earlier cell, and that the current cell did not run', async () => {
    const { result, cellResults, notes } = await runWithLostSandbox(backend, [
      `${unrepeatable[backend]}\nawait echo(value=secret)`,
      modelCallsWait,
      'await note(never=True)',
      'print("from nothing")',
    ])
    expect(result.answer).toBe('from nothing')
    expect(cellResults[2]).toMatchObject({
      is_error: true,
      content: expect.stringMatching(
        new RegExp(`^\\[diverged\\].*: ${reason(1)}; nothing of the code of this cell was run\\.`),
      ),
    })
    expect(notes).toEqual([])
  })
})
