import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { requestMessages } from '../../support/environment/test-environment.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'

const config = fileURLToPath(new URL('../../fixtures/analysis.config.ts', import.meta.url))

const regions = ['north', 'south', 'east', 'west']
const rows = 2_000_000

/** A table of 50 MB. The amounts of a region add up to a multiple of its number. */
function* table(): Generator<string> {
  yield 'region,amount,note\n'
  for (let row = 0; row < rows; row += 1_000) {
    yield Array.from({ length: 1_000 }, (_, index) => {
      const region = (row + index) % regions.length
      return `${regions[region]},${region + 1},row ${(row + index).toString().padStart(12, '0')}\n`
    }).join('')
  }
}

const script = [
  turn(
    code(`import pandas as pd
frame = pd.read_csv("/tmp/in/sales.csv")
totals = frame.groupby("region")["amount"].sum()
await charge(name="analysed")
print(totals.to_dict())`),
  ),
  turn(
    code(`import matplotlib.pyplot as plt
totals.plot.bar()
plt.show()
totals.to_csv("/tmp/out/totals.csv")
await charge(name="drawn")`),
  ),
  turn(code('import os\nprint(sorted(os.listdir("/tmp/out")))')),
  answerResult,
]

describeDocker('a table that an agent analyses', () => {
  it('the model sees the chart, and the client gets the artifacts, though workers and container are killed', async () => {
    const folder = await temporaryFolder()
    const sales = join(folder, 'sales.csv')
    await pipeline(Readable.from(table()), createWriteStream(sales))
    expect((await stat(sales)).size).toBeGreaterThan(45_000_000)
    const crashes = [
      { point: 'step.result', hit: 3 },
      { point: 'files.begins', hit: 1 },
    ] as const
    const { env, ledger, deaths } = await startCrashingWorkers(crashes, {
      config,
      script,
      store: await temporaryFolder(),
      environment: { TEST_BACKEND: 'docker' },
    })
    ledger.holdReplies('drawn')
    const run = await env.ptc.startAgent({ question: 'Which region sells most?', files: [{ file: sales }] })
    await ledger.waitForRequests('drawn')
    expect(await killContainersOf(run.workflowId)).toBe(1)
    ledger.releaseReplies('drawn')
    expect(await run.result()).toMatchObject({ status: 'answered', answer: "['figure-1.png', 'totals.csv']" })
    expect(ledger.appliedNames).toEqual(['analysed', 'drawn'])
    expect(deaths()).toBe(crashes.length)

    const messages = requestMessages(env.api.requests.at(-1)?.body)
    const texts = JSON.stringify(messages)
    expect(texts).toContain("{'east': 1500000, 'north': 500000, 'south': 1000000, 'west': 2000000}")
    const images = messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])) as { type: string }[]
    expect(images.filter(({ type }) => type === 'image')).toMatchObject([
      { source: { type: 'base64', media_type: 'image/png' } },
    ])
    expect((await buffer(run.files.read('/tmp/out/totals.csv'))).toString()).toBe(
      'region,amount\neast,1500000\nnorth,500000\nsouth,1000000\nwest,2000000\n',
    )
    const chart = await buffer(run.files.read('/tmp/out/figure-1.png'))
    expect(chart.subarray(1, 4).toString()).toBe('PNG')
    await env.expectCleanEnd(env.client.workflow.getHandle(run.workflowId))
  })
})
