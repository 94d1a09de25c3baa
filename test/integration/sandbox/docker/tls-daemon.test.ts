import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { createDockerBackend, type DockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { createCertificates, serveDaemonByTcp, serveDaemonByTls } from '../../../support/docker/tls-daemon.js'

/** A backend that reads the address of its daemon from these variables, as the docker CLI does. */
function backendWith(environment: Readonly<Record<string, string>>): DockerBackend {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const backend = createDockerBackend()
  vi.unstubAllEnvs()
  onTestFinished(() => backend.close())
  return backend
}

describeDocker('a daemon by TCP', () => {
  test('a daemon by TCP with TLS and a client certificate serves a session', async () => {
    const certificates = await createCertificates()
    const host = await serveDaemonByTls(certificates)
    const backend = backendWith({
      DOCKER_HOST: host,
      DOCKER_TLS_VERIFY: '1',
      DOCKER_CERT_PATH: certificates.clientFolder,
    })
    await backend.ensureImage()
    expect(await backend.check()).toMatchObject({ usable: true })
    const session = await new SessionHarness(backend).open()
    onTestFinished(() => session.close())
    expect(await session.startCell('print(6 * 7)')).toMatchObject({ type: 'completed', output: '42\n' })
  })

  test.each([
    ['a client certificate of another authority', 'client'],
    ['a server certificate of another authority', 'server'],
  ])('a daemon by TCP with %s is a typed error', async (_what, wrong) => {
    const [certificates, others] = [await createCertificates(), await createCertificates()]
    const host = await serveDaemonByTls(wrong === 'server' ? others : certificates)
    // The client trusts the server and has a certificate that the server does not trust.
    if (wrong === 'client') copyFileSync(join(certificates.clientFolder, 'ca.pem'), join(others.clientFolder, 'ca.pem'))
    const backend = backendWith({
      DOCKER_HOST: host,
      DOCKER_TLS_VERIFY: '1',
      DOCKER_CERT_PATH: wrong === 'client' ? others.clientFolder : certificates.clientFolder,
    })
    await expect(backend.ensureImage()).rejects.toMatchObject({
      code: expect.stringMatching(/^SANDBOX_(UNAVAILABLE|BACKEND_DOWN)$/),
    })
    const { usable, problems } = await backend.check()
    expect(usable).toBe(false)
    // The server may close the connection before the client has read its alert.
    const reason = wrong === 'server' ? /certificate/ : /certificate|alert|hang up/
    expect(problems.map(({ message }) => message).join()).toMatch(reason)
  })

  test('a daemon by TCP without TLS is usable, with a warning of the doctor', async () => {
    vi.stubEnv('DOCKER_HOST', await serveDaemonByTcp())
    onTestFinished(() => void vi.unstubAllEnvs())
    const backend = createDockerBackend()
    onTestFinished(() => backend.close())
    const { usable, problems } = await backend.check()
    expect(usable).toBe(true)
    const warnings = problems.filter(({ severity }) => severity === 'warning')
    expect(warnings.map(({ message }) => message).join()).toContain('is not encrypted or authenticated')
  })
})
