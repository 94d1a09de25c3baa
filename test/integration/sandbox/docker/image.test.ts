import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { DockerEnvironment, docker, neverAborted, execRunner } from '../../../support/sandbox/docker-sandbox.js'

describeDocker('the image of the Docker backend', () => {
  const first = new DockerEnvironment(`${execRunner}# image test\n`)
  const changed = new DockerEnvironment(`${execRunner}# image test, changed\n`)

  afterAll(() => Promise.all([first.close(), changed.close()]))

  test('the sandbox image is built with progress when it is missing', async () => {
    const backend = first.backend()
    await expect(backend.open(first.spec(), neverAborted)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      hint: expect.stringContaining('docker build'),
    })
    expect(await backend.check()).toMatchObject({
      usable: false,
      problems: expect.arrayContaining([expect.objectContaining({ message: `there is no image ${backend.image}` })]),
    })
    const lines: string[] = []
    expect(await backend.ensureImage({ onProgress: (line) => lines.push(line) })).toEqual({
      image: backend.image,
      built: true,
    })
    expect(lines.join('\n')).toContain('Successfully built')
    expect(await backend.ensureImage()).toEqual({ image: backend.image, built: false })
    const check = await backend.check()
    expect(check.usable).toBe(true)
    expect(check.summary).toMatch(/^Docker \S+ \(API 1\.\d+\)/)
    await backend.open(first.spec(), neverAborted)
  })

  test('a sandbox image with another runner is refused', async () => {
    const other = changed.backend({ image: first.backend().image })
    await expect(other.open(changed.spec(), neverAborted)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringContaining('another version of the runner'),
    })
    await expect(other.ensureImage()).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_MISSING' })
  })

  test('a sandbox image that declares volumes is refused', async () => {
    const base = await docker.createContainer({ Image: first.backend().image, Cmd: ['true'] })
    const tag = `ptc-test-volume:${base.id.slice(0, 12)}`
    const [repo, version] = tag.split(':')
    await base.commit({ repo, tag: version, changes: 'VOLUME /data' })
    await base.remove()
    try {
      await expect(first.backend({ image: tag }).open(first.spec(), neverAborted)).rejects.toThrow(
        'declares volumes (/data)',
      )
    } finally {
      await docker.getImage(tag).remove({ force: true })
    }
  })

  test('a failed build of the sandbox image reports the reason, with a hint', async () => {
    const backend = changed.backend({ baseImage: 'ptc-test-no-such-base:none' })
    await expect(backend.ensureImage()).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_BUILD_FAILED',
      message: expect.stringContaining('ptc-test-no-such-base'),
      hint: expect.stringContaining('PTC_BASE_IMAGE'),
    })
  })

  test('the sandbox image is built again for another base image, and when the base image was built again', async () => {
    // Installs nothing: the base already has Python.
    const dockerfile = 'ARG BASE\nFROM ${BASE}\nCOPY python/ /opt/durable-ptc/python/\n'
    const based = new DockerEnvironment(`${execRunner}# image test, based\n`, dockerfile)
    await first.backend().ensureImage()
    const name = `ptc-test-base:${randomUUID()}`
    const [repo, tag] = name.split(':')
    const createBase = async (folder: string): Promise<void> => {
      const Cmd = ['python3', '-c', `import os; os.mkdir('/${folder}')`]
      const HostConfig = { NetworkMode: 'none' }
      const container = await docker.createContainer({ Image: first.backend().image, Cmd, User: 'root', HostConfig })
      await container.start()
      await container.wait()
      await container.commit({ repo, tag })
      await container.remove()
    }
    await createBase('first')
    const backend = based.backend({ baseImage: name })
    try {
      expect(backend.image).not.toBe(based.backend({ baseImage: 'another' }).image)
      expect(await backend.ensureImage()).toMatchObject({ built: true })
      expect(await backend.ensureImage()).toMatchObject({ built: false })
      const old = await docker.getImage(backend.image).inspect()
      await createBase('second')
      expect(await backend.ensureImage()).toMatchObject({ built: true })
      expect(await backend.ensureImage()).toMatchObject({ built: false })
      expect((await docker.getImage(backend.image).inspect()).Id).not.toBe(old.Id)
    } finally {
      for (const image of [backend.image, name]) await docker.getImage(image).remove({ force: true })
      await based.close()
    }
  })

  test('a removed sandbox image is reported as missing, and is resolved again after a build', async () => {
    const backend = changed.backend()
    await backend.ensureImage()
    await backend.open(changed.spec(), neverAborted)
    for (const { containerId } of await backend.listSandboxes(changed.namespace)) {
      await docker.getContainer(containerId).remove({ force: true })
    }
    await docker.getImage(backend.image).remove({ force: true })
    await expect(backend.open(changed.spec(), neverAborted)).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_MISSING' })
    await backend.ensureImage()
    await backend.open(changed.spec(), neverAborted)
  })
})
