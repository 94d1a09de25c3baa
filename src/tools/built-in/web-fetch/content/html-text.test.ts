import { expect, it } from 'vitest'
import { htmlToText } from './html-text.js'

const read = (html: string, maxCharacters = 10_000) => htmlToText(html, 'https://example.com/a/b', maxCharacters)

it('headings, lists, tables and links become lines of text', async () => {
  const html = `<!doctype html><title> Rain &amp;
 snow </title><h1>Hello</h1><p>Read <a href="../x?a=1&amp;b=2#c">this</a>
 one.<ul><li>a<li>b<ul><li>c</ul></ul><table><tr><th>1<th>2<tr><td>3<td>4</table><pre>  x
    y</pre>end<br>of it`
  expect(await read(html)).toEqual({
    title: 'Rain & snow',
    text: `# Hello

Read this (https://example.com/x?a=1&b=2#c) one.

- a
- b
  - c

1 | 2
3 | 4

  x
    y

end
of it`,
  })
})

it('a row of a table is a line, with blocks and empty cells', async () => {
  const rows = '<tr><td><p>1</p><td><div>2</div><td><td>4<tr><td><td>b<td></table>c'
  expect((await read(`<table>${rows}`)).text).toBe('1 | 2 |  | 4\nb | \n\nc')
})

it('a text over the limit is not read to its end', async () => {
  const { text } = await read('<p>word'.repeat(100_000), 1_000)
  expect(text).toMatch(/^word\n\nword/)
  expect(text.length).toBe(1_000)
})

it('scripts, styles, templates, drawings and what is for pages without scripts are left out', async () => {
  const html = `a<script>if (x < 1) bad()</script><style>bad{}</style><template><p>bad</template><noscript>bad</noscript>
<svg><title>bad</title></svg><iframe>bad</iframe><select><option>bad</select><!-- bad --><svg/>z`
  expect(await read(html)).toEqual({ text: 'a z' })
})

it('links to scripts, to data and within the page have no target', async () => {
  const html = `<a href="javascript:x()">a</a> <a href="data:text/html,x">b</a> <a href="#top">c</a> <a>d</a> <a href="/e"><img></a>
<a href="https://${'x'.repeat(3_000)}">f</a>`
  expect((await read(html)).text).toBe('a b c d f')
})

it('the text of a page is that of its main part, unless this is almost empty', async () => {
  const long = 'word '.repeat(100).trim()
  expect((await read(`<nav>menu</nav><main>${long}</main><footer>imprint</footer>`)).text).toBe(long)
  expect((await read('<nav>menu</nav><main>app</main>')).text).toBe('menu\n\napp')
})

it('a text ends at its limit, between characters', async () => {
  expect((await read('a🎉🎉', 4)).text).toBe('a🎉')
})

it.each([
  ['200,000 open elements', '<div>'.repeat(200_000)],
  ['200,000 elements that nobody opened', '</b>'.repeat(200_000)],
  ['100,000 elements that end in the wrong order', '<b>'.repeat(100_000) + '</i>'.repeat(100_000)],
  ['a tag of a million characters', `<p ${'x'.repeat(1_000_000)}>`],
  ['50,000 rows of a table', '<tr><td>a<td>b'.repeat(50_000)],
  ['50,000 open links', '<a href=/x>a'.repeat(50_000)],
])('reads %s to its end', async (_what, html) => {
  const { text } = await read(`start ${html} end`, 10_000_000)
  // Without the text in a message: it is long.
  expect([text.startsWith('start'), /end\b.{0,30}$/.test(text)]).toEqual([true, true])
})
