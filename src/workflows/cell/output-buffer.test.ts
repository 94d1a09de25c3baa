import { expect, it } from 'vitest'
import { externalValue } from '../../common/json/external-value.js'
import { OutputBuffer } from './output-buffer.js'

const external = externalValue({ sha256: 'a'.repeat(64), bytes: 100, preview: '' })
const empty = { parts: [], length: 0 }

it('a model gets one line of a progress bar, also over steps and executions', () => {
  let output = new OutputBuffer(1_000, 'model', empty)
  for (let percent = 0; percent <= 100; percent += 1) {
    output.add(`\r${percent}%`)
    if (percent % 10 === 0) output = new OutputBuffer(1_000, 'model', { parts: output.parts, length: output.length })
  }
  output.add('\nRESULT: 17\n')
  expect(output.text).toBe('100%\nRESULT: 17\n')
  expect(output.length).toBe(10 * 3 + 90 * 4 + 5 + 12)
})

it('a caller gets the printed output of a cell', () => {
  const output = new OutputBuffer(1_000, 'caller', empty)
  for (const text of ['1%', '\r2%']) output.add(text)
  expect(output.text).toBe('1%\r2%')
})

it('lines around external output are left to the activity that joins the parts', () => {
  const output = new OutputBuffer(1_000, 'model', empty)
  for (const part of ['first\n1%\r2', external, '\r3%']) output.add(part)
  const parts = ['first\n2%\u001B[2G', external, '\r3%']
  expect(output.text).toEqual({ parts, limit: 1_000, suffix: '', isTerminal: true })
})
