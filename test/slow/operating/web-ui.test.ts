import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { describeRun } from '../../../src/common/run/run-texts.js'
import { startCodecServer } from '../../../src/codec-server/index.js'
import { startDevServer } from '../../../src/dev-server/index.js'
import { openStore } from '../../../src/values/open-store.js'
import { Values } from '../../../src/values/values.js'
import { describeBrowser, startBrowser } from '../../support/browser/browser.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, code, turn } from '../../support/script.js'
import { Deferred, tool } from '../../support/tools.js'

async function startServer() {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-ui-'))
  const store = { kind: 'local', directory } as const
  const values = new Values({ store: await openStore(store), retryForMs: 0 })
  const codecServer = await startCodecServer({ values, port: 0, origins: [] })
  const server = await startDevServer({
    ui: true,
    uiCodecEndpoint: codecServer.url,
    onProgress: () => undefined,
    signal: AbortSignal.timeout(150_000),
  })
  const url = server.uiUrl ?? ''
  codecServer.allowOrigin(url)
  onTestFinished(async () => {
    await server.close()
    await codecServer.close()
    await values.close()
    await rm(directory, { recursive: true })
  })
  return { ...server, url: `${url}/namespaces/${server.namespace}/workflows`, store }
}

/** Folder for screenshots, which the docs use: `PTC_SCREENSHOTS=docs/images npm test -- <this file>`. */
const screenshots = process.env['PTC_SCREENSHOTS']

async function screenshot(page: Page, name: string, height: number): Promise<void> {
  if (screenshots === undefined) return
  const clip = { x: 205, y: 50, width: 1_155, height }
  await page.screenshot({ path: join(screenshots, `${name}.png`), clip, animations: 'disabled' })
}

const columns = ['Status', 'Workflow ID', 'PtcStatus', 'PtcModel', 'PtcCostUsd', 'Start']

/** Arguments with which a model's code may call a tool. */
const hostile = {
  a: '<b id=injected>b</b>',
  c: '[d](https://evil.example)',
  e: 'https://evil.example',
  f: '**bold** `code` \u202Egnp',
}

const source = `hotels = await list_hotels(city="Delft")
await request_approval(hotel="Zuid", euros=180, **${JSON.stringify(hostile)})
print(len(hotels))`

/** The text of a page and its frames: the UI shows Markdown in a frame. */
async function textOf(page: Page): Promise<string> {
  const texts = page.frames().map((frame) => frame.locator('body').innerText({ timeout: 5_000 }))
  return (await Promise.all(texts.map((text) => text.catch(() => '')))).join('\n') // a frame may be replaced meanwhile
}

/** Checks that no text of a model or a sandbox became an element or a link. */
async function expectNeutral(page: Page): Promise<void> {
  for (const frame of page.frames())
    expect(await frame.locator('#injected, [href*="evil.example"]').count(), frame.url()).toBe(0)
}

describeBrowser("Temporal's web UI in a browser", () => {
  it("Temporal's web UI lists runs, and shows the waits of a run, its calls and its values", async () => {
    const [server, browser] = await Promise.all([startServer(), startBrowser()])
    const gate = new Deferred()
    const rows = Array.from({ length: 800 }, (_, row) => ({ row, city: 'Delft' }))
    const approve = tool('request_approval', () => gate.promise.then(() => 'yes'), { effect: 'once', timeout: '1h' })
    const env = await TestEnvironment.start({
      address: server.address,
      values: { store: server.store },
      tools: [tool('list_hotels', () => rows), approve],
      model: { name: 'claude-opus-4-8' },
      timeouts: { park: '5s' },
      script: [turn(code(source)), answerResult],
    })
    const question = 'Which hotel in Delft is below 200 EUR?'
    const run = await env.startAgent({ question }, { workflowId: 'agent-hotel', ...describeRun('agent', question) })
    const failing = await env.startProgram('print(1 / 0)', {}, { workflowId: 'program-report' })
    await failing.result()

    const page = await browser.newPage({ viewport: { width: 1_360, height: 900 } })
    const shown = (text: string | RegExp) => expect.poll(() => textOf(page)).toMatch(text)
    // The columns of the list, in the form in which the UI stores them.
    const pinned = JSON.stringify({ default: columns.map((label) => ({ label, pinned: false })) })
    await page.addInitScript(`localStorage['namespace-workflow-table-columns'] = ${JSON.stringify(pinned)}`)
    const waiting = (): Promise<string> =>
      run.describe().then(({ typedSearchAttributes }) => JSON.stringify(typedSearchAttributes.getAll()))
    await expect.poll(waiting).toContain('waiting')
    await expect
      .poll(async () => {
        await page.goto(server.url)
        await shown('agent-hotel')
        return (await page.getByRole('row').allInnerTexts()).join('\n')
      })
      .toMatch(/code_error[^]*waiting|waiting[^]*code_error/)
    const [row = ''] = await page.getByRole('row').filter({ hasText: 'agent-hotel' }).allInnerTexts()
    expect(row).toMatch(/waiting[^]*claude-opus-4-8[^]*0\.\d+/)
    await screenshot(page, 'runs', 330)

    const { runId } = await run.describe()
    const open = (tab: string) => page.goto(`${server.url}/agent-hotel/${runId}/${tab}`)
    await open('user-metadata')
    await shown(/Waits for 1 tool call \(cell 1\)/)
    await shown(/request_approval/)
    await shown(question)
    await expectNeutral(page)
    await screenshot(page, 'current-details', 700)

    await open('pending-activities')
    await shown(/1 of 1/)
    await shown(/request_approval Zuid 180 <b id=injected>/)
    await expectNeutral(page)
    await screenshot(page, 'pending-call', 480)

    await open('history')
    // The history has a reference with a preview. The browser asks the codec server for the value.
    await shown(/"value":\[\{"row":0,"city":"Delft"\}/)
    await expectNeutral(page)
    await open('timeline')
    await shown(/list_hotels/)
    await expectNeutral(page)

    gate.resolve()
    expect(await run.result()).toMatchObject({ status: 'answered', answer: '800' })
  })
})
