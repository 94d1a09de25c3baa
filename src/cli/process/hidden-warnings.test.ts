import { expect, it, onTestFinished } from 'vitest'
import { hideWarnings } from './hidden-warnings.js'

it('hides only warnings that a user can do nothing about', async () => {
  const before = process.listeners('warning')
  onTestFinished(() => {
    process.removeAllListeners('warning')
    for (const listener of before) process.on('warning', listener)
  })
  const shown: string[] = []
  process.removeAllListeners('warning')
  process.on('warning', ({ message }) => void shown.push(message))
  hideWarnings()
  process.emitWarning('a server name', 'DeprecationWarning', 'DEP0123')
  process.emitWarning('a proxy', { code: 'UNDICI-EHPA' })
  process.emitWarning('another', 'DeprecationWarning', 'DEP9999')
  process.emitWarning('a plain one')
  await expect.poll(() => shown).toEqual(['another', 'a plain one'])
})
