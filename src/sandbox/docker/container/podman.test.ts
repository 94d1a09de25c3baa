import { expect, test } from 'vitest'
import { defaultLimits } from '../../../common/run/limits.js'
import { containerCreateOptions } from './container-create-options.js'
import { dockerError, statusOf } from '../engine/docker-error.js'
import { toPodmanOptions } from './podman.js'

const body = containerCreateOptions({ image: 'i', userId: 1, labels: {}, limits: defaultLimits, seccomp: '{"a":1}' })
const { HostConfig, ...rest } = toPodmanOptions(body, '/profiles/seccomp.json')

test('for Podman the security options name the file of the seccomp profile and the masked paths', () => {
  expect(HostConfig.SecurityOpt.slice(0, 2)).toEqual(['no-new-privileges:true', 'seccomp=/profiles/seccomp.json'])
  expect(HostConfig.SecurityOpt[2]?.split(/[=:]/)).toEqual(['mask', ...body.HostConfig.MaskedPaths])
})

test('for Podman the tmpfs has all options except nr_inodes', () => {
  expect(HostConfig.Tmpfs['/tmp']).toBe(`rw,noexec,nosuid,nodev,size=${defaultLimits.tmpBytes},mode=1777`)
})

test('for Podman the rest of the request is the same', () => {
  const same = { SecurityOpt: 0, Tmpfs: 0, Ulimits: 0 }
  expect({ ...HostConfig, ...same }).toEqual({ ...body.HostConfig, ...same })
  expect(HostConfig.Ulimits).toEqual([...body.HostConfig.Ulimits, { Name: 'nproc', Soft: 64, Hard: 64 }])
  expect({ ...rest, HostConfig: 0 }).toEqual({ ...body, HostConfig: 0 })
})

// Messages of Podman 4.3.1.
test.each([
  'container create: creating container storage: the container name "ptc-a" is already in use by fa71. You have to remove',
  'can only kill running containers. 8ace is in state stopped: container state improper',
  'can only attach to created or running containers: container state improper',
])('a conflict that Podman reports as 500 is mapped to 409: %s', (message) => {
  expect(statusOf(Object.assign(new Error(message), { statusCode: 500 }))).toBe(409)
})

test('other failures of Podman keep the status 500', () => {
  const failure = Object.assign(new Error('no space left on device'), { statusCode: 500 })
  expect(statusOf(failure)).toBe(500)
  expect(dockerError(failure, 'start')).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
})

test('statusOf reads the status of the cause of a PtcError', () => {
  const refusal = Object.assign(new Error('no such container'), { statusCode: 404 })
  expect(statusOf(dockerError(refusal, 'start'))).toBe(404)
})
