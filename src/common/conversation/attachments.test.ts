import { expect, it } from 'vitest'
import { externalValue } from '../json/external-value.js'
import { attachmentLimits, mediaTypeOf, messageBlocks, problemOfAttachments } from './attachments.js'

const stored = (bytes: number) => externalValue({ sha256: 'a'.repeat(64), bytes, preview: '' })
const png = { mediaType: 'image/png', value: stored(1_000) } as const
const pdf = { mediaType: 'application/pdf', value: stored(1_000), name: 'invoice.pdf' } as const
const base64 = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part)))).toString(
    'base64',
  )

it.each([
  [base64(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13), 'image/png'],
  [base64(0xff, 0xd8, 0xff, 0xe0), 'image/jpeg'],
  [base64('GIF89a', 1, 0), 'image/gif'],
  [base64('RIFF', 0xff, 0, 1, 7, 'WEBPVP8 '), 'image/webp'],
  [base64('RIFF', 0, 0, 0, 0, 'WEBPVP8L'), 'image/webp'],
  [base64('%PDF-1.7\n'), 'application/pdf'],
  [base64('RIFF', 0, 0, 0, 0, 'WAVEfmt '), undefined],
  [base64('<svg>'), undefined],
  ['', undefined],
])('the type of %s is %s', (data, type) => {
  expect(mediaTypeOf(data)).toBe(type)
})

it('stored attachments are accepted, and others are refused with a reason', () => {
  const full = { ...png, value: stored(4 * Math.ceil(attachmentLimits.imageBytes / 3) + 2) }
  for (const attachments of [undefined, [], [png, pdf], [full]])
    expect(problemOfAttachments(attachments)).toBeUndefined()
  const large = { ...pdf, value: stored(25_000_000) }
  const problems = [
    'one',
    [null],
    [{ file: 'a.png' }],
    [{ ...png, mediaType: 'image/tiff' }],
    [png, { ...png, value: stored(6_000_000) }],
    [large, large],
    [{ ...pdf, name: 'x'.repeat(201) }],
    Array.from({ length: 21 }, () => png),
  ].map(problemOfAttachments)
  expect(problems).toEqual([
    'the attachments are no list',
    'attachment 1: it is no object',
    'attachment 1: it is not in the value store: a client stores it',
    'attachment 1: the type "image/tiff" is none of image/png, image/jpeg, image/gif, image/webp, application/pdf',
    'attachment 2: it has 4499995 bytes; image/png may have 3932160',
    'the attachments have 37499990 bytes; a message may have 20971520',
    'attachment 1: the name is no text of at most 200 characters',
    'a message may have 20 attachments, not 21',
  ])
})

it('a message has its attachments before the text, by reference', () => {
  expect(messageBlocks('What is it?', [png, pdf])).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.value } },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf.value },
      title: 'invoice.pdf',
    },
    { type: 'text', text: 'What is it?' },
  ])
  expect(messageBlocks('Hi')).toEqual([{ type: 'text', text: 'Hi' }])
})
