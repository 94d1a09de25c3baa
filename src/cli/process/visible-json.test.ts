import { expect, it } from 'vitest'
import { emojiText, invisibleCharacters } from '../../../test/support/faults/invisible-characters.js'
import { visibleJson } from './visible-json.js'

it('escapes invisible characters of JSON, and those that control a terminal', () => {
  const value = { to: 'a\u202Eb\u200B', name: '\u009B2J\u001B[2J\u007F', tag: '\u{E0041}', plain: 'Zoë 👍 漢' }
  const text = visibleJson(value)
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toBe(
    String.raw`{"to":"a\u202eb\u200b","name":"\u009b2J\u001b[2J\u007f","tag":"\udb40\udc41","plain":"Zoë 👍 漢"}`,
  )
})

it.each(invisibleCharacters)('escapes %j', (character) => {
  const text = visibleJson(`ada${character}x`)
  expect(text).toMatch(/^"ada(\\u[0-9a-f]{4}){1,2}x"$/)
  expect(JSON.parse(text)).toBe(`ada${character}x`)
})

it('keeps emoji', () => {
  expect(visibleJson(emojiText)).toBe(`"${emojiText}"`)
})
