import { describe, expect, test } from 'vitest'
import { PtcError } from '../../../common/errors.js'
import { parseConfig } from '../../../config/parse-config.js'
import { checkWarmPool } from './check-warm-pool.js'

const configOf = (sandbox: object) => parseConfig({ tools: [], sandbox }, 'test')
const daemonWith = (ready: number) => () => ({
  countIdleContainers: () => Promise.resolve(ready),
  close: () => Promise.resolve(),
})
const noDaemon = () => {
  throw new PtcError('SANDBOX_UNAVAILABLE', 'no daemon answers')
}

describe('checkWarmPool', () => {
  test.each([
    [{ warm: 3 }, /^each worker keeps 3 containers started .*; 2 idle containers on this Docker daemon$/],
    [{ warm: 0 }, /^off \(sandbox\.warm is 0\): every session starts its own container; 2/],
    [{}, /^`ptc worker` keeps no idle container, .* \(sandbox\.warm is not set\); 2 idle containers/],
    [{ backend: 'wasm' }, /^each worker keeps 1 interpreter started/],
    [{ backend: 'wasm', warm: 0 }, /^off \(sandbox\.warm is 0\)/],
  ])('reports the warm pool for %j', async (sandbox, message) => {
    const check = await checkWarmPool(configOf(sandbox), daemonWith(2))
    expect(check).toMatchObject({ name: 'Warm pool', status: 'ok', message: expect.stringMatching(message) })
  })

  test('warns about a missing daemon only when Docker is configured', async () => {
    const found = await checkWarmPool(configOf({ backend: 'docker', warm: 1 }), noDaemon)
    expect(found).toMatchObject({ status: 'warning', message: expect.stringContaining('no daemon answers') })
    expect(await checkWarmPool(undefined, noDaemon)).toMatchObject({ status: 'ok' })
  })
})
