import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'
import { runCells, snapshotOf } from '../snapshots/restored-sandbox.js'

const analyst = defineAgent({ name: 'analyst', instructions: 'You analyse tables.', image: 'data' })

const analysis = `
import matplotlib.pyplot as plt, numpy, os, pandas
from scipy import stats
rng = numpy.random.default_rng(7)
frame = pandas.DataFrame({"quarter": ["Q1", "Q2", "Q3"] * 100, "amount": rng.normal(100, 10, 300)})
totals = frame.groupby("quarter").amount.sum()
frame.to_excel("/tmp/totals.xlsx")
totals.plot.bar(title="総額 金额 합계")
plt.show()
plt.plot(rng.normal(size=50))
plt.show()
digests = [numpy.round(totals.to_numpy(), 6).tolist(), float(stats.sem(frame.amount)), float(numpy.linalg.det(rng.normal(size=(40, 40))))]
`

const report = `
import hashlib
files = sorted(os.listdir("/tmp/out"))
print(digests, pandas.read_excel("/tmp/totals.xlsx").shape, plt.get_fignums())
for file in files:
    content = open(f"/tmp/out/{file}", "rb").read()
    print(file, content[:4] == b"\\x89PNG", hashlib.sha256(content).hexdigest())
`

describeDocker('the image data', () => {
  const backend = createDockerBackend({ image: 'data' })

  // The first build installs half a gigabyte.
  beforeAll(() => backend.ensureImage(), 1_800_000)
  afterAll(() => backend.close())

  test('an analysis with numpy, pandas and matplotlib continues after its container was killed', async () => {
    const called = new Deferred()
    const go = new Deferred<string>()
    const wait = tool('wait', () => {
      called.resolve()
      return go.promise
    })
    const script = [
      turn(code(`${analysis}\nprint("done")`)),
      turn(code(report)),
      turn(call('wait')),
      turn(code(report)),
    ]
    const env = await TestEnvironment.start({
      backend: 'docker',
      agents: [analyst],
      tools: [wait],
      script: [...script, answerResult],
    })
    const handle = await env.startAgent({ agent: 'analyst' })
    await called.promise
    await env.killContainers(handle)
    go.resolve('waited')
    const { answer } = await env.agentResult(handle)
    await env.expectCleanEnd(handle)
    expect(answer).toContain('(300, 3) []')
    expect(answer.match(/figure-[12]\.png True/g)).toHaveLength(2)
    const requests = env.api.requests.map(({ body }) => JSON.stringify(body))
    // The rebuilt sandbox has the same numbers and the same figures, to the byte.
    const printed = JSON.stringify(answer.trim()).slice(1, -1)
    expect(requests[2]).toContain(printed)
    for (const name of ['numpy', 'pandas', 'matplotlib', 'scipy', 'openpyxl'])
      expect(requests[0]).toMatch(new RegExp(`Packages of Python: [^"]*\\b${name} \\d`))
    const opened = (await handle.fetchHistory()).events?.flatMap((event) => {
      const attributes = event.activityTaskCompletedEventAttributes?.result?.payloads?.[0]?.data
      const text = attributes ? Buffer.from(attributes).toString() : ''
      return /"image":"(sha256:[0-9a-f]{64})"/.exec(text)?.[1] ?? []
    })
    expect(opened).toHaveLength(2)
    expect(new Set(opened).size).toBe(1)
  })

  test('figures have characters of Chinese, Japanese and Korean', async () => {
    const source = `
import warnings, matplotlib.pyplot as plt
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    plt.title("総額 金额 합계 −1"); plt.show()
print([str(each.message) for each in caught])`
    const harness = await runCells(backend, [])
    expect((await harness.runCell(source)).output).toBe('[]\n')
    await harness.close()
  })

  test.each([
    ['an array', 'import numpy\nkept = numpy.arange(12.0).reshape(3, 4)'],
    ['a data frame', 'import pandas\nkept = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})'],
  ])('a snapshot of %s is refused, because modules of numpy may have state', async (_, cell) => {
    const harness = await runCells(backend, [cell])
    expect(await snapshotOf(harness)).toEqual({
      reason: expect.stringMatching(/^the module numpy\.\w+, which may have state of its own$/),
    })
    await harness.close()
  })
})
