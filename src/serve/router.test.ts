import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { type Handler, findRoute, type Route, shortArray } from './router.js'

const handler: Handler = () => Promise.resolve(undefined)
const routes: readonly Route[] = [
  { method: 'GET', path: '/things', handler },
  { method: 'POST', path: '/things/:name', handler },
  { method: 'GET', path: '/things/:name', handler },
]

it('finds a route by method and path, with the decoded parts of the path', () => {
  expect(findRoute(routes, 'GET', '/things')).toMatchObject({ handler, params: {} })
  expect(findRoute(routes, 'POST', '/things/a%2Fb%20c')).toMatchObject({ handler, params: { name: 'a/b c' } })
})

it('a part with a star matches the rest of the path', () => {
  const files: readonly Route[] = [{ method: 'PUT', path: '/runs/:id/files/*path', handler }]
  const { params } = findRoute(files, 'PUT', '/runs/a/files/tmp/in/b%20c.csv')
  expect(params).toMatchObject({ id: 'a', path: 'tmp/in/b c.csv' })
  expect(() => findRoute(files, 'PUT', '/runs/a/files/')).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }) as Error,
  )
})

it.each([
  ['GET', '/', 'NOT_FOUND'],
  ['GET', '/things/', 'NOT_FOUND'],
  ['GET', '/things/a/b', 'NOT_FOUND'],
  ['GET', '/things/%zz', 'NOT_FOUND'],
  ['POST', '/things', 'METHOD_NOT_ALLOWED'],
  [undefined, '/things/a', 'METHOD_NOT_ALLOWED'],
])('the router rejects %s %s with %s', (method, path, code) => {
  expect(() => findRoute(routes, method, path)).toThrow(expect.objectContaining({ code }) as Error)
})

it('checks elements of an array up to the first wrong one, and none of an array that is too long', () => {
  const checked = vi.fn((value: unknown) => typeof value === 'number')
  const schema = z.object({ list: shortArray(z.custom<number>(checked, 'no number'), 5) })
  expect(schema.safeParse({ list: [1, 2, 3] }).data).toEqual({ list: [1, 2, 3] })
  expect(checked).toHaveBeenCalledTimes(3)
  const { error } = schema.safeParse({ list: [1, 'a', 'b', 'c'] })
  expect(error?.issues).toMatchObject([{ path: ['list', 1], message: 'no number' }])
  expect(checked).toHaveBeenCalledTimes(5)
  expect(schema.safeParse({ list: [1, 2, 3, 4, 5, 6] }).error?.issues).toMatchObject([{ code: 'too_big' }])
  expect(checked).toHaveBeenCalledTimes(5)
})
