import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { languageSuites } from '../src/sandbox/conformance/suite.js'
import { languages } from '../src/languages/index.js'
import { currentPage, languagesPage } from './languages-page.js'

it('docs/languages.md has the table of behaviors: `node scripts/languages.mjs` writes it', () => {
  expect(readFileSync(languagesPage, 'utf8')).toBe(currentPage())
})

it('each language has a column in the table of behaviors', () => {
  expect(languageSuites.map(({ language }) => language)).toEqual(languages.map(({ name }) => name))
})
