import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { pack } from 'tar-stream'
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

  test('a rebuilt sandbox has the image of its session, also when the name of the image has moved', async () => {
    const name = `ptc-test-pinned:${randomUUID()}`
    const [repo, tag] = name.split(':')
    const spec = changed.spec()
    await changed.backend().ensureImage()
    const moveName = async (): Promise<void> => {
      const container = await docker.createContainer({ Image: changed.backend().image, Cmd: ['true'] })
      await container.commit({ repo, tag, changes: `LABEL moved=${container.id}` })
      await container.remove()
    }
    const open = async (epoch: number, pinned?: string) => {
      // As after a restart of the worker.
      const backend = changed.backend({ image: name })
      const image = pinned === undefined ? {} : { image: { pinned } }
      return (await backend.open({ ...spec, epoch, ...image }, neverAborted)).image
    }
    await moveName()
    const first = await open(1)
    await moveName()
    try {
      expect(await open(2, first)).toBe(first)
      const latest = await open(3)
      expect(latest).not.toBe(first)
      // As on another host.
      expect(await open(4, `sha256:${'0'.repeat(64)}`)).toBe(latest)
      expect((await changed.backend({ image: name }).attach({ ...spec, epoch: 2 }, neverAborted))?.image).toBe(first)
    } finally {
      for (const { containerId } of await changed.backend().listSandboxes(changed.namespace))
        await docker.getContainer(containerId).remove({ force: true, v: true })
      for (const image of [name, first ?? '']) await docker.getImage(image).remove({ force: true })
    }
  })

  test.each([
    ['without the runner', 'amd64', false, 'does not contain the runner of durable-ptc'],
    ['for other processors', 's390x', true, 'is for processors of kind s390x'],
  ] as const)('an image %s is refused', async (_, architecture, hasRunner, problem) => {
    const name = `ptc-test-refused:${randomUUID()}`
    const { Config } = await docker.getImage(await built()).inspect()
    await loadEmptyImage(name, { architecture, labels: hasRunner ? Config.Labels : {} })
    try {
      await expect(first.backend({ image: name }).open(first.spec(), neverAborted)).rejects.toMatchObject({
        code: 'SANDBOX_IMAGE_MISSING',
        message: expect.stringContaining(`image ${name} ${problem}`),
      })
    } finally {
      await docker.getImage(name).remove({ force: true })
    }
  })

  async function built(): Promise<string> {
    return (await first.backend().ensureImage()).image
  }

  test('the images of durable-ptc are listed with their content; images of users are not', async () => {
    const backend = first.backend()
    const name = await built()
    await backend.open(first.spec(), neverAborted)
    const images = await backend.listImages()
    expect(images.find((image) => image.name === name)).toMatchObject({
      title: 'minimal',
      packages: [],
      isCurrent: true,
      containers: expect.any(Number),
    })
    expect(images.every((image) => image.name.startsWith('durable-ptc-sandbox:'))).toBe(true)
    const prunable = await backend.pruneImages({ dryRun: true })
    expect(prunable.map((image) => image.name)).not.toContain(name)
  })
})

/** Loads an image with no file, in the format of `docker save`. */
async function loadEmptyImage(
  name: string,
  { architecture, labels }: { readonly architecture: string; readonly labels: Readonly<Record<string, string>> },
): Promise<void> {
  const files = pack()
  files.finalize()
  const layer = await buffer(files)
  const diffId = `sha256:${createHash('sha256').update(layer).digest('hex')}`
  const rootfs = { type: 'layers', diff_ids: [diffId] }
  const archive = pack()
  archive.entry({ name: 'layer.tar' }, layer)
  archive.entry(
    { name: 'config.json' },
    JSON.stringify({ architecture, os: 'linux', config: { Labels: labels }, rootfs }),
  )
  archive.entry(
    { name: 'manifest.json' },
    JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]),
  )
  archive.finalize()
  await text(await docker.loadImage(Readable.from(archive)))
}
