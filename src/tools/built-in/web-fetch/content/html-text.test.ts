import { expect, it } from 'vitest'
import { htmlToText } from './html-text.js'

const read = (html: string, maxCharacters = 10_000) => htmlToText(html, 'https://example.com/a/b', maxCharacters)

it('headings, lists, tables and links become lines of text', () => {
  const html = `<!doctype html><title> Rain &amp;
 snow </title><h1>Hello</h1><p>Read <a href="../x?a=1&amp;b=2#c">this</a>
 one.<ul><li>a<li>b<ul><li>c</ul></ul><table><tr><th>1<th>2<tr><td>3<td>4</table><pre>  x
    y</pre>end<br>of it`
  expect(read(html)).toEqual({
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

it('scripts, styles, templates, drawings and what is for pages without scripts are left out', () => {
  const html = `a<script>if (x < 1) bad()</script><style>bad{}</style><template><p>bad</template><noscript>bad</noscript>
<svg><title>bad</title></svg><iframe>bad</iframe><select><option>bad</select><!-- bad --><svg/>z`
  expect(read(html)).toEqual({ text: 'a z' })
})

it('links to scripts, to data and within the page have no target', () => {
  const html = `<a href="javascript:x()">a</a> <a href="data:text/html,x">b</a> <a href="#top">c</a> <a>d</a> <a href="/e"><img></a>
<a href="https://${'x'.repeat(3_000)}">f</a>`
  expect(read(html).text).toBe('a b c d f')
})

it('the text of a page is that of its main part, unless this is almost empty', () => {
  const long = 'word '.repeat(100).trim()
  expect(read(`<nav>menu</nav><main>${long}</main><footer>imprint</footer>`).text).toBe(long)
  expect(read('<nav>menu</nav><main>app</main>').text).toBe('menu\n\napp')
})

it('a text ends at its limit, between characters', () => {
  expect(read('a🎉🎉', 4).text).toBe('a🎉')
})

it.each([
  ['200,000 open elements', '<div>'.repeat(200_000)],
  ['200,000 elements that nobody opened', '</b>'.repeat(200_000)],
  ['100,000 elements that end in the wrong order', '<b>'.repeat(100_000) + '</i>'.repeat(100_000)],
  ['a tag without an end', `<p ${'x'.repeat(1_000_000)}`],
  ['50,000 rows of a table', '<tr><td>a<td>b'.repeat(50_000)],
  ['50,000 open links', '<a href=/x>a'.repeat(50_000)],
])('reads %s, and the text after them', (_what, html) => {
  expect(read(`start ${html}`, 10_000_000).text).toMatch(/^start/)
})
