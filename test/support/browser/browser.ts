import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { describeDependency } from '../docker/describe-dependency.js'

/** Debian's Chromium, and the usual places of Chrome. */
const executables = [
  process.env['PTC_TEST_BROWSER_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const executablePath = executables.find((path) => path !== undefined && existsSync(path))

/** `describe` for tests in a real browser, as PTC_TEST_BROWSER requires. */
export function describeBrowser(name: string, tests: () => void): void {
  describeDependency('PTC_TEST_BROWSER', name, executablePath === undefined ? 'no Chromium' : undefined, tests)
}

/** Starts a browser without a window; it ends with the test. */
export async function startBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox', // the tests may run as root
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ]
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args })
  onTestFinished(() => browser.close())
  return browser
}
