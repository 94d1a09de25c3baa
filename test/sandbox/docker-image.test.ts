import { afterAll, expect, test } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { TestBackend, docker, never, obedientRunner } from './docker-support.js'

describeDocker('the image of the Docker backend', () => {
  const first = new TestBackend(`${obedientRunner}# image test\n`)
  const changed = new TestBackend(`${obedientRunner}# image test, changed\n`)

  afterAll(() => Promise.all([first.close(), changed.close()]))

  test('is missing, is built with progress, and is there', async () => {
    const backend = first.backend()
    await expect(backend.open(first.spec(), never)).rejects.toMatchObject({
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
    await backend.open(first.spec(), never)
  })

  test('of another runner is refused', async () => {
    const other = changed.backend({ image: first.backend().image })
    await expect(other.open(changed.spec(), never)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringContaining('another version of the runner'),
    })
    await expect(other.ensureImage()).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_MISSING' })
  })

  test('that brings volumes or no runner is refused', async () => {
    const base = await docker.createContainer({ Image: first.backend().image, Cmd: ['true'] })
    const tag = `ptc-test-volume:${base.id.slice(0, 12)}`
    const [repo, version] = tag.split(':')
    await base.commit({ repo, tag: version, changes: 'VOLUME /data' })
    await base.remove()
    try {
      await expect(first.backend({ image: tag }).open(first.spec(), never)).rejects.toThrow('declares volumes (/data)')
    } finally {
      await docker.getImage(tag).remove({ force: true })
    }
  })

  test('that can not be built says why and what to try', async () => {
    const backend = changed.backend()
    await expect(backend.ensureImage({ base: 'ptc-test-no-such-base:none' })).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringContaining('ptc-test-no-such-base'),
      hint: expect.stringContaining('PTC_BASE_IMAGE'),
    })
  })

  test('that went away while the worker ran is said to be missing, and looked for again', async () => {
    const backend = changed.backend()
    await backend.ensureImage()
    await backend.open(changed.spec(), never)
    for (const { container } of await backend.listSandboxes(changed.namespace)) {
      await docker.getContainer(container).remove({ force: true })
    }
    await docker.getImage(backend.image).remove({ force: true })
    await expect(backend.open(changed.spec(), never)).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_MISSING' })
    await backend.ensureImage()
    await backend.open(changed.spec(), never)
  })
})
