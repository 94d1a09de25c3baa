import { expect, it } from 'vitest'
import { emojiText, invisibleCharacters } from '../../../test/support/faults/invisible-characters.js'
import { pageFile } from './index.js'

// Has no types: it is sent to browsers.
const source = `data:text/javascript,${encodeURIComponent((await pageFile('/page/requests.js')?.content()) ?? '')}`
const { visibleJson } = (await import(source)) as { readonly visibleJson: (value: unknown, indent?: number) => string }

it.each([...invisibleCharacters, '\u001B', '\u007F', '\u009B'])('escapes %j in arguments of a call', (character) => {
  const text = visibleJson({ to: `ada${character}x` })
  expect(text).toMatch(/^\{"to":"ada(\\u[0-9a-f]{4}){1,2}x"\}$/)
  expect(JSON.parse(text)).toEqual({ to: `ada${character}x` })
})

it('keeps emoji and line breaks', () => {
  expect(visibleJson([emojiText], 2)).toBe(`[\n  "${emojiText}"\n]`)
})
