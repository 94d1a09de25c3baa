import { describe, expect, it } from 'vitest'
import type { StoredFile } from '../../common/files/files.js'
import { externalValue } from '../../common/json/external-value.js'
import { describeKept, RunFiles, type RunFilesState } from './run-files.js'

const part = externalValue({ sha256: 'a'.repeat(64), bytes: 4, preview: '' })
const file = (path: string, more: Partial<StoredFile> = {}): StoredFile => ({
  path,
  bytes: 3,
  sha256: 'b'.repeat(64),
  mediaType: 'text/plain',
  parts: [part],
  ...more,
})
const image = (path: string, width = 10) => file(path, { mediaType: 'image/png', pixels: { width, height: 10 } })
const paths = (files: readonly StoredFile[]) => files.map(({ path }) => path)
const [a, b, c] = ['/tmp/in/a', '/tmp/in/b', '/tmp/in/c'].map((path) => file(path)) as [
  StoredFile,
  StoredFile,
  StoredFile,
]

describe('the uploads of a run', () => {
  it('each upload is written once, and all of them again into an empty sandbox', () => {
    const files = new RunFiles({ uploads: [a, b] })
    expect(paths(files.takeUnwritten(true))).toEqual([a.path, b.path])
    expect(files.takeUnwritten(false)).toEqual([])
    files.add([c])
    expect(paths(files.takeUnwritten(false))).toEqual([c.path])
    expect(paths(files.takeUnwritten(true))).toEqual([a.path, b.path, c.path])
  })

  it('an upload replaces an earlier one of the same path, whether it was written or not', () => {
    const files = new RunFiles({ uploads: [a, b] })
    const newer = file(a.path, { bytes: 9 })
    files.add([newer])
    expect(files.takeUnwritten(true)).toEqual([b, newer])
    const newest = file(b.path, { bytes: 10 })
    files.add([newest])
    expect(files.takeUnwritten(false)).toEqual([newest])
    expect(files.all).toEqual([newer, newest])
  })

  it('a further sandbox gets each upload once', () => {
    const files = new RunFiles({ uploads: [a, b] })
    expect(paths(files.uploadsAfter(0))).toEqual([a.path, b.path])
    expect(files.uploadsAfter(files.uploadCount)).toEqual([])
    files.add([c])
    expect(paths(files.uploadsAfter(2))).toEqual([c.path])
    files.add([a])
    expect(paths(files.uploadsAfter(3))).toEqual([a.path])
    expect(files.uploadCount).toBe(4)
    const { uploadCount: _, ...recordedBefore } = files.state ?? {}
    expect(new RunFiles({ uploads: [] }, recordedBefore as RunFilesState).uploadCount).toBe(3)
  })

  it('an artifact that is given to all sandboxes is an upload of which the model is not told', () => {
    const files = new RunFiles({ uploads: [] })
    files.addArtifacts([file('/tmp/out/etl/t.csv')])
    expect(files.share('/tmp/out/etl/t.csv', 1_000)).toMatchObject({ path: '/tmp/in/shared/etl/t.csv' })
    expect(files.takeNews()).toEqual([])
    expect(paths(files.all)).toEqual(['/tmp/out/etl/t.csv'])
    expect(paths(files.takeUnwritten(false))).toEqual(['/tmp/in/shared/etl/t.csv'])
    expect(paths(files.uploadsAfter(0))).toEqual(['/tmp/in/shared/etl/t.csv'])
    expect(files.share('/tmp/out/none', 1_000)).toBe('no such file was kept')
    expect(files.share('/tmp/out/etl/t.csv', 1)).toMatch(/the sandbox has room for 1$/)
  })

  it('the model is told of uploads once', () => {
    const files = new RunFiles({ uploads: [file('/tmp/in/t.csv', { mediaType: 'text/csv', preview: 'x,y\n1,2' })] })
    const text = '[files] The user has uploaded 1 file:\n/tmp/in/t.csv (text/csv, 3 B)\n  x,y\n  1,2'
    expect(files.takeNews()).toEqual([{ type: 'text', text }])
    expect(files.takeNews()).toEqual([])
  })

  it('a run continues as new with its files, and a run without files has no state', () => {
    const files = new RunFiles({ uploads: [a] })
    files.addArtifacts([image('/tmp/out/i')])
    const next = new RunFiles({ uploads: [a] }, structuredClone(files.state))
    expect(next.all).toEqual(files.all)
    expect(paths(next.takeUnwritten(false))).toEqual([a.path])
    expect(next.takeNews()).toHaveLength(3)
    expect(new RunFiles(undefined).state).toBeUndefined()
  })

  it('problemOf refuses uploads of a run without files, and more than fit with the earlier ones', () => {
    expect(new RunFiles(undefined).problemOf([a], 100)).toBe('it has no files: start it with `files: true`')
    const files = new RunFiles({ uploads: [a] })
    expect(files.problemOf([b], 6)).toBeUndefined()
    expect(files.problemOf([b], 5)).toBe('the files have 6 bytes, and the sandbox has room for 5')
    expect(files.problemOf([file(a.path, { bytes: 5 })], 5)).toBeUndefined()
    expect(files.problemOf('x', 5)).toBe('the files are not a list')
  })
})

describe('the artifacts of a run', () => {
  it('the model sees four images of a cell, and twenty of a run, and none that is too large', () => {
    const files = new RunFiles({ uploads: [] })
    const shownAfter = (artifacts: readonly StoredFile[]) => {
      files.addArtifacts(artifacts)
      return files.takeNews().filter(({ type }) => type === 'image').length
    }
    expect(shownAfter([image('/tmp/out/large', 2_001), file('/tmp/out/text')])).toBe(0)
    const five = [1, 2, 3, 4, 5].map((number) => image(`/tmp/out/${number}`))
    expect([five, five, five, five, five, five].map(shownAfter)).toEqual([4, 4, 4, 4, 4, 0])
    expect(files.all).toHaveLength(7)
  })

  it('an image is announced by its path', () => {
    const files = new RunFiles({ uploads: [] })
    files.addArtifacts([image('/tmp/out/i.png')])
    expect(files.takeNews()).toEqual([
      { type: 'text', text: '[files] /tmp/out/i.png:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: part } },
    ])
  })

  it('images of direct calls have the limits of artifacts, and a run continues as new with them', () => {
    const files = new RunFiles(undefined)
    const images = (count: number, note = '') => ({
      shown: Array.from({ length: count }, (_, index) => ({
        name: `image ${index + 1}`,
        mediaType: 'image/png',
        data: part,
      })),
      note,
    })
    expect(files.imagesLeft).toBe(4)
    expect(files.showImages('shots__take', images(3, 'a note'))).toBe('a note')
    expect(files.imagesLeft).toBe(1)
    const [, second] = files.showImages('shots__take', images(3)).split('\n')
    expect(second).toBe('[image 3] is not shown: a model sees 4 images of a turn, and 20 of a run')
    const next = new RunFiles(undefined, structuredClone(files.state))
    const news = next.takeNews()
    expect(news.filter(({ type }) => type === 'image')).toHaveLength(4)
    expect(news[0]).toEqual({ type: 'text', text: '[image 1] of shots__take:' })
    for (const each of [4, 4, 4, 4, 0]) {
      expect(next.imagesLeft).toBe(each)
      next.showImages('shots__take', images(4))
      next.takeNews()
    }
    expect(next.state?.images).toBe(20)
  })

  it('describeKept says what was kept, and what was not', () => {
    const lost = [{ path: '/tmp/out/l', problem: 'it is a link' }]
    expect(describeKept({ files: [image('/tmp/out/i')], lost })).toEqual([
      '[files] 1 file kept from /tmp/out:',
      '/tmp/out/i (image/png, 3 B, 10 x 10 pixels)',
      '[files] not kept: /tmp/out/l: it is a link',
    ])
    expect(describeKept({ files: [], lost: [] })).toEqual([])
  })

  it('of many files, the model is told of the first ones, with few previews and short paths', () => {
    const many = Array.from({ length: 100 }, (_, index) => index)
    const files = many.map((index) => file(`/tmp/out/${index}`, { preview: 'x'.repeat(800) }))
    const lost = many.map((index) => ({ path: `/tmp/out/${'y'.repeat(4_000)}${index}`, problem: 'it is a link' }))
    const text = describeKept({ files, lost }).join('\n')
    expect(text.length).toBeLessThan(10_000)
    expect(text.match(/xxx+/g)).toHaveLength(3)
    expect(text.match(/and 80 more/g)).toHaveLength(2)
  })
})

describe('the files that tools return', () => {
  const returned = file('/tmp/in/tools/0123456789abcdef/a.csv')
  const chart = (name: string) => image(`/tmp/in/tools/0123456789abcdef/${name}`)

  it('each is written before the next cell, unless the current one has it, and again into an empty sandbox', () => {
    const files = new RunFiles({ uploads: [] })
    files.addReturned(returned, true)
    expect(files.takeReturned(false)).toEqual([returned])
    expect(files.takeReturned(false)).toEqual([])
    files.addReturned(chart('b'), true)
    files.writeInCell(chart('b'))
    expect(files.takeReturned(false)).toEqual([])
    expect(paths(files.takeReturned(true))).toEqual([returned.path, chart('b').path])
    expect(paths(files.all)).toEqual([returned.path, chart('b').path])
  })

  it('a file of a dropped cell is written before the next one', () => {
    const files = new RunFiles({ uploads: [] })
    files.addReturned(returned, true)
    files.takeReturned(false)
    files.addReturned(chart('b'), true)
    files.writeInCell(chart('b'))
    files.dropCell()
    const next = new RunFiles({ uploads: [] }, structuredClone(files.state))
    expect(paths(next.takeReturned(false))).toEqual([chart('b').path])
    next.dropCell()
    expect(next.takeReturned(false)).toEqual([])
  })

  it('the model sees 4 images of one turn, and 20 of a run with its artifacts', () => {
    const files = new RunFiles({ uploads: [] })
    expect(files.describeReturned(chart('a'))).toBe(`${chart('a').path} (image/png, 3 B, 10 x 10 pixels)`)
    for (const name of ['b', 'c', 'd', 'e']) files.describeReturned(chart(name))
    expect(files.takeNews().filter(({ type }) => type === 'image')).toHaveLength(4)
    for (const cell of [1, 2, 3, 4]) {
      files.addArtifacts(['a', 'b', 'c', 'd'].map((name) => image(`/tmp/out/${cell}${name}`)))
      files.takeNews()
    }
    expect(files.describeReturned(image('/tmp/in/tools/x/wide', 2_001))).toContain('2001 x 10 pixels')
    files.describeReturned(chart('f'))
    expect(files.takeNews()).toEqual([])
  })

  it('a run has 500 uploads and files of tools at most, with those that calls in progress will return', async () => {
    const files = new RunFiles({ uploads: [] })
    for (let number = 0; number < 499; number += 1) files.addReturned(file(`${returned.path}${number}`), true)
    expect(files.isFull).toBe(false)
    await files.whileReturning(async () => expect(files.isFull).toBe(true))
    expect(files.isFull).toBe(false)
    expect(files.problemOf([a], 1_000_000)).toBeUndefined()
    expect(files.problemOf([a, b], 1_000_000)).toBe('a run may have 500 files, not 501')
  })

  it('a file that code of another sandbox has is listed, and written nowhere until it is shared', () => {
    const files = new RunFiles({ uploads: [] })
    files.addReturnedElsewhere(returned)
    expect(files.takeReturned(true)).toEqual([])
    expect(files.takeReturned(true)).toEqual([])
    expect(files.all).toEqual([returned])
    expect(files.share(returned.path, 1_000)).toMatchObject({ path: '/tmp/in/shared/tools/0123456789abcdef/a.csv' })
    expect(files.takeUnwritten(false)).toMatchObject([{ parts: returned.parts }])
  })

  it('a file that a rule on data holds back is written, and not listed', () => {
    const files = new RunFiles({ uploads: [] })
    files.addReturned(returned, false)
    expect(files.all).toEqual([])
    expect(files.takeReturned(false)).toEqual([returned])
    expect(files.takeReturned(true)).toEqual([returned])
    expect(files.all).toEqual([])
  })
})
