import { expect, it } from 'vitest'
import { type Handler, findRoute, type Route } from './router.js'

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
