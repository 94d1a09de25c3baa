import { expect, it } from 'vitest'
import { emojiText, invisibleCharacters } from '../../../test/support/faults/invisible-characters.js'

// Has no types: it is sent to browsers as it is.
const file = './requests.js'
const { visibleJson } = (await import(file)) as { readonly visibleJson: (value: unknown, indent?: number) => string }

it.each([...invisibleCharacters, '\u001B', '\u007F', '\u009B'])('escapes %j in arguments of a call', (character) => {
  const text = visibleJson({ to: `ada${character}x` })
  expect(text).toMatch(/^\{"to":"ada(\\u[0-9a-f]{4}){1,2}x"\}$/)
  expect(JSON.parse(text)).toEqual({ to: `ada${character}x` })
})

it('keeps emoji and line breaks', () => {
  expect(visibleJson([emojiText], 2)).toBe(`[\n  "${emojiText}"\n]`)
})
