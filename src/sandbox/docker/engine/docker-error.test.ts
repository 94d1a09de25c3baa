import { expect, test } from 'vitest'
import { dockerError, statusOf } from './docker-error.js'

test.each([
  [{ code: 'ENOENT', syscall: 'connect' }, 'SANDBOX_BACKEND_DOWN'],
  [{ code: 'ECONNREFUSED', syscall: 'connect' }, 'SANDBOX_BACKEND_DOWN'],
  [{ code: 'EACCES', syscall: 'connect' }, 'SANDBOX_BACKEND_DOWN'],
  [{ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'SANDBOX_BACKEND_DOWN'],
  [{ code: 'ECONNRESET' }, 'SANDBOX_BACKEND_DOWN'],
  [{ code: 'ENOENT', syscall: 'open' }, 'SANDBOX_UNAVAILABLE'],
  [{ code: 'EMFILE', syscall: 'socket' }, 'SANDBOX_UNAVAILABLE'],
  [{ code: 'EMFILE', syscall: 'connect' }, 'SANDBOX_UNAVAILABLE'],
  [{ code: 'ENOBUFS', syscall: 'connect' }, 'SANDBOX_UNAVAILABLE'],
  [{ statusCode: 500 }, 'SANDBOX_UNAVAILABLE'],
  [{ statusCode: 400 }, 'SANDBOX_UNAVAILABLE'],
  [{}, 'SANDBOX_UNAVAILABLE'],
])('an error of a daemon %j is %s', (fields, code) => {
  expect(dockerError(Object.assign(new Error('no'), fields), 'create a container')).toMatchObject({ code })
})

test('statusOf reads the status of the cause of a PtcError', () => {
  const refusal = Object.assign(new Error('no such container'), { statusCode: 404 })
  expect(statusOf(dockerError(refusal, 'start'))).toBe(404)
})
