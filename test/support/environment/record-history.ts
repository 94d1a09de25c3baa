import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { temporal } from '@temporalio/proto'
import { expect } from 'vitest'

type History = temporal.api.history.v1.IHistory

/**
 * With `PTC_RECORD_HISTORIES=folder`, writes the histories of a run for test/histories, under the name of the test.
 * Replaces identities and paths, which name hosts, processes and folders.
 */
export function recordHistoriesIfRequested(chain: readonly History[]): void {
  const folder = process.env['PTC_RECORD_HISTORIES']
  if (folder === undefined || folder === '') return
  mkdirSync(folder, { recursive: true })
  const name = (expect.getState().currentTestName ?? 'run').replace(/[^a-z0-9]+/gi, '-').slice(0, 100)
  for (const [index, history] of chain.entries()) {
    const type = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? 'run'
    const json = historyToJSON(history)
      .replaceAll(/"identity": "[^"]*"/g, '"identity": "worker"')
      .replaceAll(/"\d+@[^"]*"/g, '"worker"')
      .replaceAll(process.cwd(), '/app')
    writeFileSync(join(folder, `${name}.${type}.${index + 1}.json`), `${JSON.stringify(JSON.parse(json))}\n`)
  }
}
