// Writes the tables of docs/languages.md from the table of behaviors (src/sandbox/conformance/).
import { writeFileSync } from 'node:fs'
import { createJiti } from 'jiti'

const { currentPage, languagesPage } = await createJiti(import.meta.url).import('./languages-page.ts')
writeFileSync(languagesPage, currentPage())
