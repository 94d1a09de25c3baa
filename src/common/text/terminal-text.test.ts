import { expect, it } from 'vitest'
import { TerminalText } from './terminal-text.js'

function show(...chunks: readonly string[]): string {
  let shown = ''
  const terminal = new TerminalText((text) => (shown += text))
  for (const chunk of chunks) terminal.add(chunk)
  terminal.end()
  return shown
}

const bar = Array.from({ length: 101 }, (_, percent) => `\r${percent}% [${'#'.repeat(percent / 5).padEnd(20)}]`).join(
  '',
)

/** Two bars, as tqdm writes them: the cursor stays on the first one. */
const nested = Array.from({ length: 30 }, (_, i) => `\router ${i}\n\rinner ${i}\u001B[A`).join('')

it.each([
  ['before\n' + nested, 'before\nouter 29\ninner 29'],
  [nested + '\n\nRESULT: 17\n', 'outer 29\ninner 29\nRESULT: 17\n'],
  ['a\nb\nc\n\u001B[3FA\n\u001B[KB\n', 'A\nB\nc\n'],
  ['one\ntwo\u001B[1A!\n\u001B[1F\u001B[2Kx\nend', 'x\nend'],
  ['one\ntwo\u001B[1A!\nT\n', 'one!\nTwo\n'],
  ['one\r\ntwo\r\n\u001B[2Athree\n', 'three\ntwo\r\n'],
  ['first\u001B[A second\n', 'first\u001B[A second\n'],
  ['first\n\u001B[2Ax\n', 'first\n\u001B[2Ax\n'],
  [`${'line\n'.repeat(30)}\u001B[25Ax\n\u001B[1Ay\n`, `${'line\n'.repeat(30)}y\n`],
  ['before\n' + bar + '\nRESULT: 17\n', `before\n100% [${'#'.repeat(20)}]\nRESULT: 17\n`],
  ['no newline at the end\r100%', '100%ewline at the end'],
  ['one\r\ntwo\r\n', 'one\r\ntwo\r\n'],
  ['one\r', 'one\r'],
  ['one\r\r\ntwo', 'one\r\r\ntwo'],
  ['1\r2\r\nend', '2\r\nend'],
  ['abc\b\nend', 'abc\nend'],
  ['abc\u001B[2K\u001B[3Gx\n', '  x\n'],
  ['long text\rshort\n', 'shorttext\n'],
  ['long text\r\u001B[Kshort\n', 'short\n'],
  ['long text\u001B[2K\rshort\n', 'short\n'],
  ['long text\u001B[1K\rx\n', 'x        \n'],
  ['long text\u001B[1Gx\n', 'xong text\n'],
  ['abc\u001B[2DX\n', 'aXc\n'],
  ['a\u001B[3Cb\n', 'a   b\n'],
  ['  1%\b\b\b\b  2%\b\b\b\b100%\n', '100%\n'],
  ['\b\b\bx\n', 'x\n'],
  ['abc\b', 'abc'],
  ['\u001B[31mred\u001B[0m\n', '\u001B[31mred\u001B[0m\n'],
  ['x\r\u001B[31mred\u001B[0m\n', '\u001B[31mred\u001B[0m\n'],
  ['😀😀\rx\n', 'x😀\n'],
  ['1\r2\n\n3\r4\n', '2\n\n4\n'],
  ['tabs\tand\fothers stay\n', 'tabs\tand\fothers stay\n'],
  ['end\u001B[', 'end\u001B['],
  ['', ''],
])('TerminalText shows %j', (text, expected) => {
  expect(show(text)).toBe(expected)
  // The text is split at each code point, and into two parts at each place.
  const points = Array.from(text)
  expect(show(...points)).toBe(expected)
  for (let at = 1; at < Math.min(points.length, 300); at += 1)
    expect(show(points.slice(0, at).join(''), points.slice(at).join(''))).toBe(expected)
})

it('TerminalText flushes a line that another object continues', () => {
  let shown = ''
  const first = new TerminalText((text) => (shown += text))
  first.add('done\n 10%\r 20%\u001B[3D')
  first.flush()
  expect(show(shown, '3')).toBe('done\n 30%')
})

it('TerminalText takes time linear in the length of any text', () => {
  const started = performance.now()
  show(...Array.from({ length: 400 }, () => '\u001B[999999999Gx'))
  show('\u001B[2K\u001B[999Gx'.repeat(4_000))
  show('\r'.repeat(200_000), '\u001B['.repeat(100_000), '\u001B[;'.repeat(100_000))
  show(...Array.from({ length: 2_000 }, () => 'a long line without an end, '))
  const wide = `${'x'.repeat(3_000)}\r`
  show(wide + '\u001B[1K'.repeat(100_000), wide + '\u001B[999C\u001B[1K'.repeat(50_000))
  show(wide + '\n' + `${wide}\u001B[A\n`.repeat(1_000), 'x\u001B[A\n'.repeat(200_000), '\u001B[A'.repeat(200_000))
  show(...Array.from({ length: 20_000 }, () => `${'x'.repeat(190)}\n\u001B[19A\n`))
  expect(performance.now() - started).toBeLessThan(30_000)
})

it('holds lines of long bars, and writes what can not change any more', () => {
  let written = ''
  const terminal = new TerminalText((text) => (written += text))
  const long = (i: number) => `${i} ${'#'.repeat(300)}`
  for (let i = 0; i < 100; i += 1) terminal.add(`\r${long(i)}\n\r${long(i)}\u001B[A`)
  expect(written).toBe('')
  expect(show(terminal.openText, '\n\nend')).toBe(`${long(99)}\n${long(99)}\nend`)
  terminal.add('\n\n')
  for (let i = 0; i < 100; i += 1) terminal.add(`line ${i}\n`)
  expect(written).toMatch(/^99 #+\n99 #+\n(line \d+\n){80,}$/)
  terminal.add('x'.repeat(5_000))
  expect(written).toMatch(/line 99\nx+$/)
})
