import { expect, it } from 'vitest'
import { toModelText } from './model-text.js'

it('names images where they are, and other blocks by what a model can use of them', () => {
  const found: string[] = []
  const addImage = (data: string) => `image ${found.push(data)}`
  const text = toModelText(
    [
      { type: 'text', text: 'before' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations: {} },
      { type: 'resource', resource: { uri: 'a:1', mimeType: 'image/png', blob: 'aGkh' } },
      { type: 'resource', resource: { uri: 'a:2', text: 'of a resource' } },
      { type: 'resource', resource: { uri: 'a:3', mimeType: 'application/pdf', blob: 'A'.repeat(4_000) } },
      { type: 'audio', data: 'A'.repeat(8_000), mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'a:4', name: 'link' },
      { type: 'image' },
      { type: 'resource', resource: 3 },
      { type: 'later', more: [1] },
    ],
    addImage,
  )
  expect(found).toEqual(['aGk=', 'aGkh', ''])
  expect(text.split('\n')).toEqual([
    'before',
    '[image 1]',
    '[resource a:1] [image 2]',
    '[resource a:2]',
    'of a resource',
    '[resource a:3] [application/pdf, 2.9 KB: only code gets it]',
    '[audio, audio/wav, 5.9 KB: only code gets it]',
    '{"type":"resource_link","uri":"a:4","name":"link"}',
    '[image 3]',
    '{"type":"resource","resource":3}',
    '{"type":"later","more":[1]}',
  ])
})
