import { describe, expect, test } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { parseConfig } from '../config/parse-config.js'
import { checkPool } from './check-pool.js'

const configOf = (sandbox: object) => parseConfig({ tools: [], sandbox }, 'test')
const daemonWith = (ready: number) => () => ({
  countSpares: () => Promise.resolve(ready),
  close: () => Promise.resolve(),
})
const noDaemon = () => {
  throw new PtcError('SANDBOX_UNAVAILABLE', 'no daemon answers')
}

describe('the warm pool, as doctor tells it', () => {
  test.each([
    [
      { docker: { warm: 3 } },
      /^each worker keeps 3 containers started .*; 2 containers ready on this Docker daemon now$/,
    ],
    [{ docker: { warm: 0 } }, /^off \(sandbox\.docker\.warm is 0\): every session starts a container of its own; 2/],
    [{}, /^sandbox\.docker\.warm is not set: .*; 2 containers ready/],
    [{ backend: 'wasm' }, /^each worker keeps 1 interpreter started/],
    [{ backend: 'wasm', wasm: { warm: 0 } }, /^off \(sandbox\.wasm\.warm is 0\)/],
  ])('for %j', async (sandbox, message) => {
    const check = await checkPool(configOf(sandbox), daemonWith(2))
    expect(check).toMatchObject({ name: 'Warm pool', status: 'ok', message: expect.stringMatching(message) })
  })

  test('without a daemon it is a warning only for who wants Docker', async () => {
    const found = await checkPool(configOf({ backend: 'docker', docker: { warm: 1 } }), noDaemon)
    expect(found).toMatchObject({ status: 'warning', message: expect.stringContaining('no daemon answers') })
    expect(await checkPool(undefined, noDaemon)).toMatchObject({ status: 'ok' })
  })
})
