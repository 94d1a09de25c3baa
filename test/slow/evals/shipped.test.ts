import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const count = readdirSync(fileURLToPath(new URL('../../../evals', import.meta.url))).length

test.each([
  ['scripted', 0, count, 0],
  ['scripted:wrong', 1, 0, count],
])(
  'model %s ends the shipped tasks with exit code %i: %i passed and %i failed',
  async (model, code, passed, failed) => {
    const { address, namespace } = sharedServer()
    await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
    const result = await project.run('eval', '--shipped', '--model', model, '--sandbox', 'wasm', '--json')
    expect(result, result.stderr).toMatchObject({ code })
    expect(JSON.parse(result.stdout)).toMatchObject({
      counts: { total: count, passed, failed, errors: 0, judgeFailed: 0 },
    })
    expect(count).toBeGreaterThanOrEqual(15)
  },
)
