import { expect, it } from 'vitest'
import { openApiOption } from '../options.js'
import { listOperations } from './read-operations.js'
import { References } from './references.js'
import { maxOperations, selectOperations } from './select-operations.js'

const paths = {
  '/issues': {
    get: { operationId: 'issues/list', tags: ['issues'] },
    post: { operationId: 'issues/create', tags: ['issues'] },
  },
  '/repos/{id}': { get: { operationId: 'repos/get', tags: ['repos'] }, delete: { tags: ['repos', 'admin'] } },
}

function select(options: object, all: object = paths): readonly string[] {
  const source = openApiOption.parse({ api: { document: 'x', ...options } })['api']
  if (source === undefined) throw new Error('there is no source')
  return selectOperations('api', listOperations(new References({ paths: all as never })), source).map(({ key }) => key)
}

it.each([
  [{}, ['GET /issues', 'POST /issues', 'GET /repos/{id}', 'DELETE /repos/{id}']],
  [{ allow: ['issues/*'] }, ['GET /issues', 'POST /issues']],
  [{ allow: ['DELETE /repos/{id}', 'repos/get'] }, ['GET /repos/{id}', 'DELETE /repos/{id}']],
  [{ allow: ['GET *'] }, ['GET /issues', 'GET /repos/{id}']],
  [{ tags: ['admin'], allow: ['issues/list'] }, ['GET /issues', 'DELETE /repos/{id}']],
  [{ paths: ['/repos/*'] }, ['GET /repos/{id}', 'DELETE /repos/{id}']],
])('%j selects %j', (options, keys) => {
  expect(select(options)).toEqual(keys)
})

it.each([
  [{ allow: ['issues/lst'] }, 'OpenAPI api has no operation "issues/lst". Did you mean "issues/list"?'],
  [{ tags: ['issue'] }, 'has no tag "issue"'],
  [{ paths: ['/nothing'] }, 'has no path "/nothing"'],
  [{ operations: { 'issues/close': {} } }, 'has no operation "issues/close"'],
])('%j is refused, because nothing matches', (options, message) => {
  expect(() => select(options)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) as string }),
  )
})

it('too many operations are refused, and the error says how to select', () => {
  const many = Object.fromEntries(
    Array.from({ length: maxOperations + 1 }, (_, index) => [
      `/x${index}`,
      { get: { tags: [index % 2 ? 'odd' : 'even'] } },
    ]),
  )
  expect(() => select({}, many)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'OpenAPI api has 2001 operations; at most 2000 can be tools',
      hint: 'Select some with allow, tags or paths. Tags: even (1001), odd (1000).',
    }),
  )
  expect(select({ tags: ['odd'] }, many)).toHaveLength(1_000)
})
