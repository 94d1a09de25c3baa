import { describe, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { codeBlocksOf } from '../../support/docs/code-blocks.js'
import { runPage } from '../../support/docs/run-page.js'

describe.concurrent('pages that can be followed', () => {
  it('docs/quickstart.md: the commands run as pasted', async () => {
    await using project = await TestProject.create({})
    const page = codeBlocksOf('docs/quickstart.md')
    const { code, stdout, stderr } = await runPage(project, page, 'ptc init expenses\ncd expenses\n')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^ada 6340\nlin 1800\nsam 0\n[^]*^ada 6340 EUR$/m)
  })

  it('docs/guides/sessions.md: the commands share variables', async () => {
    await using project = await TestProject.create({ 'load.py': 'books = 7', 'report.py': 'print(books)' })
    const page = codeBlocksOf('docs/guides/sessions.md')
    const { code, stdout, stderr } = await runPage(project, page, 'ptc init\nptc dev\n')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^7$/m)
  })
})
