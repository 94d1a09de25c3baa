import { expect, it } from 'vitest'
import { definedBackend } from './option.js'

const kubernetes = { namespace: 'sandboxes', image: 'registry/sandbox:1' }

it.each([
  [{}, /`namespace` and `image`/],
  [{ kubernetes: { namespace: 'sandboxes' } }, /`namespace` and `image`/],
  [{ kubernetes, image: 'data' }, /sandbox\.kubernetes\.image/],
  [{ kubernetes, packages: { pip: ['polars'] } }, /sandbox\.kubernetes\.image/],
])('the Kubernetes sandbox is refused with %j', (options, hint) => {
  const define = () => definedBackend({ backend: 'kubernetes', ...options } as Parameters<typeof definedBackend>[0])
  expect(define).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.stringMatching(hint) }))
})

it('the Kubernetes sandbox has files and a network', () => {
  expect(definedBackend({ backend: 'kubernetes', kubernetes })).toMatchObject({
    name: 'kubernetes',
    files: true,
    network: true,
  })
})
