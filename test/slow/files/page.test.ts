import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { describeBrowser, startBrowser } from '../../support/browser/browser.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, code, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const leave = `
import base64, os
os.makedirs("/tmp/out", exist_ok=True)
pixel = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
open("/tmp/out/dot.gif", "wb").write(base64.b64decode(pixel))
open("/tmp/out/page.html", "w").write("<script>document.title='attacked'</script>" + open("/tmp/in/n.csv").read())
print("done")`

describeBrowser('files on the chat page', () => {
  it('the page uploads a file with a message, shows an image of the code, and downloads another artifact', async () => {
    const [served, browser] = await Promise.all([
      ServeEnvironment.start({ backend: 'docker', tools: [], script: [turn(code(leave)), answerResult] }),
      startBrowser(),
    ])
    const { url } = await served.server()
    const page = await browser.newPage()
    page.setDefaultTimeout(pollOptions.timeout)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    // Until the first message, the conversation is unknown.
    const isExpected = (message: string) => message.includes('status of 404')
    page.on('console', (message) => {
      if (message.type() === 'error' && !isExpected(message.text())) problems.push(message.text())
    })
    await page.goto(`${url}/#${served.name}`)
    const buffer = Buffer.from('n\n42\n')
    await page.getByLabel('Attachments and files').setInputFiles({ name: 'n.csv', mimeType: 'text/csv', buffer })
    await page.getByLabel('Message').fill('Draw it.')
    await page.getByRole('button', { name: 'Send' }).click()

    const image = page.locator('#log img')
    await image.waitFor()
    await expect.poll(() => image.evaluate((element) => Reflect.get(element, 'naturalWidth') as number)).toBe(1)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /page\.html/ }).click(),
    ])
    expect(download.suggestedFilename()).toBe('page.html')
    expect(await readFile(await download.path(), 'utf8')).toContain('n\n42')
    expect(await page.locator('#log').innerText()).toContain('[n.csv]\nDraw it.')
    expect(await page.title()).not.toBe('attacked')
    expect(problems).toEqual([])
  })
})
