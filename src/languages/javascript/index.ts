import type { Language } from '../language.js'
import { runner } from './runner.js'

export const javascript = { name: 'javascript', extension: '.js', runner } as unknown as Language
