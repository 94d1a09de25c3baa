import { findDaemon } from './daemon-address.js'
import { expect, test } from 'vitest'
import { daemonProblems, transportProblems } from './daemon-problems.js'
import { usesUserNamespace } from './daemon-info.js'

test('a daemon that enforces everything has no problems', () => {
  const info = { OSType: 'linux', MemoryLimit: true, SwapLimit: true, PidsLimit: true, CpuCfsQuota: true }
  expect(daemonProblems({ ...info, SecurityOptions: ['name=seccomp,profile=default'] }, undefined)).toEqual([])
})

test.each([
  [{ OSType: 'windows' }, 'windows'],
  [{ MemoryLimit: false }, 'memory'],
  [{ PidsLimit: false }, 'process'],
  [{ SecurityOptions: ['name=apparmor'] }, 'seccomp'],
  [{ Runtimes: { runc: {} } }, 'no runtime runsc (it has runc)'],
])('a daemon with %j has an error', (info, message) => {
  const [problem] = daemonProblems(info, 'runsc')
  expect(problem?.severity).toBe('error')
  expect(problem?.message).toContain(message)
})

test('rootless and remapped daemons are recognized by their security options', () => {
  expect(usesUserNamespace({ SecurityOptions: ['name=seccomp,profile=default', 'name=userns'] })).toBe(true)
  expect(usesUserNamespace({ SecurityOptions: ['name=rootless'] })).toBe(true)
  expect(usesUserNamespace({ SecurityOptions: ['name=seccomp'] })).toBe(false)
})

test.each([
  [{ DOCKER_HOST: 'tcp://10.0.0.1:2375' }, 1],
  [{ DOCKER_HOST: 'tcp://127.0.0.1:2375' }, 1],
  [{ DOCKER_HOST: 'http://docker:2375' }, 1],
  [{ DOCKER_HOST: 'tcp://10.0.0.1:2376' }, 0],
  [{ DOCKER_HOST: 'tcp://10.0.0.1:2377', DOCKER_TLS_VERIFY: '1' }, 0],
  [{ DOCKER_HOST: 'unix:///var/run/docker.sock' }, 0],
  [{}, 0],
])('the transport of %j has %i warnings', (environment, count) => {
  const problems = transportProblems(findDaemon({ HOME: '/nonexistent', ...environment }))
  expect(problems).toHaveLength(count)
  for (const problem of problems) {
    expect(problem).toMatchObject({ severity: 'warning', message: expect.stringMatching(/is not encrypted/) })
  }
})
