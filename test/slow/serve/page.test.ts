import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { type Script, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { describeBrowser, startBrowser } from '../../support/browser/browser.js'
import { type EnvironmentVariables, type PtcProcess, TestProject } from '../../support/cli/ptc.js'
import { pollOptions } from '../../support/poll-options.js'
import { call, code, text, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const configuration = () => `
import { askHuman, defineConfig, defineTool, fileStream } from 'durable-ptc'
import { z } from 'zod'
const pay = defineTool({
  name: 'pay', description: 'Pays.', effect: 'once', approval: 'always',
  input: z.object({ euros: z.number(), purpose: z.string() }), output: z.string(), run: ({ euros }) => 'paid ' + euros,
})
export default defineConfig({
  tools: [pay, askHuman()],
  sandbox: { backend: 'wasm', warm: 0 },
  stream: fileStream({ folder: '.ptc/stream' }),
  taskQueue: '${uniqueName('page')}',
})
`

/** Text that a model, or code of a sandbox, may write. */
const hostile = `<img src="x" onerror="document.title='attacked'"><script>document.title='attacked'</script>`

const script = [
  turn(text(`Hello ${hostile}`), code(`print(${JSON.stringify(hostile)})`)),
  turn(text('It is printed.')),
  turn(text('I pay. '), call('pay', { euros: 3, purpose: hostile })),
  turn(text('Result: {{last_tool_result}}')),
  turn(call('pay', { euros: 4, purpose: 'tea' })),
  turn(text('It was denied.')),
  turn(call('ask_human', { question: 'Which invoice?' })),
  turn(text('You said {{last_tool_result}}')),
]

async function startProject(script: Script, variables: EnvironmentVariables = {}) {
  const api = await startScriptedMessagesApi({ script })
  onTestFinished(() => api.close())
  const project = await TestProject.create(
    { 'ptc.config.ts': configuration() },
    { TEMPORAL_ADDRESS: sharedServer().address, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test', ...variables },
  )
  onTestFinished(() => project[Symbol.asyncDispose]())
  await project.start('worker').waitForOutput(/worker ready/)
  return project
}

async function serve(
  project: TestProject,
  port = '0',
): Promise<{ readonly url: string; readonly process: PtcProcess }> {
  const process = project.start('serve', '--port', port)
  const [, url = ''] = await process.waitForOutput(/chat page: (\S+)/, 'stdout')
  return { url, process }
}

async function send(page: Page, content: string): Promise<void> {
  await page.getByLabel('Message').fill(content)
  await page.getByRole('button', { name: 'Send' }).click()
}

async function closeConversation(url: string, headers: Record<string, string> = {}): Promise<void> {
  const { status } = await fetch(`${url}/conversations/books/close`, { method: 'POST', headers })
  expect(status).toBe(200)
}

const logOf = (page: Page) => page.locator('#log').innerText()

/** Number of occurrences of a text in the log. */
const countOf = async (page: Page, content: string) => (await logOf(page)).split(content).length - 1

describeBrowser('the chat page of ptc serve', () => {
  it('the chat page shows model output as text, decides on calls, and survives the end of the server', async () => {
    const [project, browser] = await Promise.all([startProject(script), startBrowser()])
    const first = await serve(project)
    const page = await browser.newPage()
    page.setDefaultTimeout(pollOptions.timeout)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))
    await page.goto(first.url)
    await page.getByLabel('Conversation').fill('books')
    await page.getByRole('button', { name: 'Open' }).click()

    await send(page, `Say ${hostile}`)
    await expect.poll(() => logOf(page)).toContain('It is printed.')
    // One is from the person, one from the model, and one from its code.
    expect(await countOf(page, hostile)).toBe(3)
    expect(await page.locator('#log img, #log script').count()).toBe(0)

    const buffer = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')
    await page.getByLabel('Attachments').setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer })
    await send(page, 'pay')
    const card = page.locator('#approvals .approval')
    await card.waitFor()
    expect(await logOf(page)).toContain('[cat.png]\npay')
    expect(await page.getByLabel('Attachments').inputValue()).toBe('')
    expect(await card.innerText()).toContain('onerror')
    expect(await card.locator('img, script').count()).toBe(0)
    first.process.signal('SIGKILL')
    await first.process.result
    await expect.poll(() => page.locator('#status').innerText()).toBe('no connection to the server')
    const second = await serve(project, new URL(first.url).port)
    await expect.poll(() => page.locator('#status').innerText()).toMatch(/^working/)
    await card.getByLabel('Arguments', { exact: true }).fill('{"euros": 5, "purpose": "tea"}')
    await card.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => logOf(page)).toContain('Result: paid 5')
    await expect.poll(() => card.count()).toBe(0)
    for (const each of ['I pay.', 'Result: paid 5', 'It is printed.']) expect(await countOf(page, each)).toBe(1)

    await send(page, 'pay again')
    await card.getByLabel('Reason').fill('no money')
    await card.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(() => logOf(page)).toContain('It was denied.')

    await send(page, 'ask')
    await page.getByText('Everything that waits for a person').click()
    const question = page.locator('#all-approvals .approval').filter({ hasText: 'Which invoice?' })
    await question.getByLabel('Answer').fill('INV-8')
    await question.getByRole('button', { name: 'Answer' }).click()
    await expect.poll(() => logOf(page)).toContain('You said INV-8')

    // Another page reads the history.
    const other = await browser.newPage()
    other.setDefaultTimeout(pollOptions.timeout)
    await other.goto(`${second.url}/#books`)
    await expect.poll(() => logOf(other)).toContain('You said INV-8')
    for (const each of ['Result: paid 5', '[image]']) expect(await countOf(other, each)).toBe(1)
    expect(await other.locator('#log img, #log script').count()).toBe(0)
    expect([await page.title(), await other.title(), problems]).toEqual(['ptc', 'ptc', []])

    await closeConversation(second.url)
    second.process.signal('SIGTERM')
    expect(await second.process.result).toMatchObject({ code: 0 })
  })

  it('the chat page interrupts the work, and asks for the token', async () => {
    const waiting = [turn(call('pay', { euros: 3, purpose: 'tea' }))]
    const [project, browser] = await Promise.all([startProject(waiting, { PTC_SERVE_TOKEN: 'secret' }), startBrowser()])
    const { url } = await serve(project)
    const page = await browser.newPage()
    page.setDefaultTimeout(pollOptions.timeout)
    await page.goto(`${url}/#books`)
    await page.getByLabel('Token').fill('secret')
    await page.getByRole('button', { name: 'Use' }).click()
    await send(page, 'pay')
    await page.locator('#approvals .approval').waitFor()
    await page.getByRole('button', { name: 'Interrupt' }).click()
    await expect.poll(() => logOf(page)).toContain('interrupted')
    await closeConversation(url, { authorization: 'Bearer secret' })
  })
})
