import { expect, it } from 'vitest'
import { externalValue } from '../../common/json/external-value.js'
import { OutputBuffer } from './output-buffer.js'

const external = externalValue({ sha256: 'a'.repeat(64), bytes: 100, preview: '' })
const empty = { parts: [], length: 0 }

it('a model gets one line of a progress bar, also over steps and executions', () => {
  let output = new OutputBuffer(1_000, 'model', empty)
  for (let percent = 0; percent <= 100; percent += 1) {
    output.add({ output: `\r${percent}%` })
    if (percent % 10 === 0) output = new OutputBuffer(1_000, 'model', output.state)
  }
  output.add({ output: '\nRESULT: 17\n' })
  expect(output.text).toBe('100%\nRESULT: 17\n')
  expect(output.length).toBe(10 * 3 + 90 * 4 + 5 + 12)
})

it('a caller gets the printed output of a cell', () => {
  const output = new OutputBuffer(1_000, 'caller', empty)
  for (const text of ['1%', '\r2%']) output.add({ output: text })
  expect(output.text).toBe('1%\r2%')
})

it('lines around external output are left to the activity that joins the parts', () => {
  const output = new OutputBuffer(1_000, 'model', empty)
  for (const part of ['first\n1%\r2', external, '\r3%']) output.add({ output: part })
  const parts = ['first\n2%\u001B[2G', external, '\r3%']
  expect(output.text).toEqual({ parts, limit: 1_000, suffix: '', isTerminal: true })
})

it('a caller gets the parts that were printed to stderr, over steps, external output and executions', () => {
  let output = new OutputBuffer(1_000, 'caller', empty)
  output.add({ output: 'ab', stderr: [[1, 2]] })
  output = new OutputBuffer(1_000, 'caller', output.state)
  output.add({ output: external, outputLength: 90, stderr: [[0, 5]] })
  output.add({ output: 'cd', stderr: [[0, 2]] })
  expect(output.stderrOf(94)).toEqual([
    [1, 2],
    [2, 7],
    [92, 94],
  ])
  // The activity that joins the parts has cut the middle of the text.
  const cut = new OutputBuffer(20, 'caller', output.state)
  const marker = '\n[... 74 characters cut ...]\n'
  expect(cut.stderrOf(20 + marker.length)).toEqual([
    [1, 2],
    [2, 7],
    [18 + marker.length, 20 + marker.length],
  ])
})

it('a caller gets no parts of stderr when the places of the parts are unknown', () => {
  const output = new OutputBuffer(10, 'caller', empty)
  output.add({ output: 'a'.repeat(20), stderr: [[0, 20]] })
  expect(output.stderrOf(39)).toEqual([[0, 39]])
  output.add({ output: external, outputLength: 90 })
  expect(output.stderrOf(39)).toEqual([])
})
