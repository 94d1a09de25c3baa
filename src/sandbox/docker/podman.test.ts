import { expect, test } from 'vitest'
import { defaultLimits } from '../../common/limits.js'
import { containerBody } from './container-body.js'
import { dockerError, statusOf } from './errors.js'
import { forPodman } from './podman.js'

const body = containerBody({ image: 'i', userId: 1, labels: {}, limits: defaultLimits, seccomp: '{"a":1}' })
const { HostConfig, ...rest } = forPodman(body, '/profiles/seccomp.json')

test('Podman is told where the seccomp profile is, and what to mask, by security options', () => {
  expect(HostConfig.SecurityOpt.slice(0, 2)).toEqual(['no-new-privileges:true', 'seccomp=/profiles/seccomp.json'])
  expect(HostConfig.SecurityOpt[2]?.split(/[=:]/)).toEqual(['mask', ...body.HostConfig.MaskedPaths])
})

test('a tmpfs of Podman has every option of ours that it knows', () => {
  expect(HostConfig.Tmpfs['/tmp']).toBe(`rw,noexec,nosuid,nodev,size=${defaultLimits.tmpBytes},mode=1777`)
})

test('all else of the request is the same for Podman', () => {
  const same = { SecurityOpt: 0, Tmpfs: 0, Ulimits: 0 }
  expect({ ...HostConfig, ...same }).toEqual({ ...body.HostConfig, ...same })
  expect(HostConfig.Ulimits).toEqual([...body.HostConfig.Ulimits, { Name: 'nproc', Soft: 64, Hard: 64 }])
  expect({ ...rest, HostConfig: 0 }).toEqual({ ...body, HostConfig: 0 })
})

// As Podman 4.3.1 says them.
test.each([
  'container create: creating container storage: the container name "ptc-a" is already in use by fa71. You have to remove',
  'can only kill running containers. 8ace is in state stopped: container state improper',
  'can only attach to created or running containers: container state improper',
])('a conflict that Podman has no status for is one: %s', (message) => {
  expect(statusOf(Object.assign(new Error(message), { statusCode: 500 }))).toBe(409)
})

test('other failures of Podman stay failures', () => {
  const failure = Object.assign(new Error('no space left on device'), { statusCode: 500 })
  expect(statusOf(failure)).toBe(500)
  expect(dockerError(failure, 'start')).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})
