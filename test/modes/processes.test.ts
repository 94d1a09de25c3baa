import { expect, inject, it } from 'vitest'
import { CrashScene } from '../support/crash-scene.js'
import { historyOf } from '../support/histories.js'
import { inMode } from '../support/mode.js'
import { answerResult, code, turn } from '../support/script.js'
import { isEverRemembered } from './is-ever-remembered.js'

// Run without the mode it is the control.
it('processes that a test starts forget every workflow in always-replay', async () => {
  const backend = inject('docker') === 'available' ? 'docker' : 'wasm'
  const scene = await CrashScene.begin([turn(code('await charge(name="flat")')), answerResult], { backend })
  const handle = await scene.startAgent()
  expect(await scene.result(handle)).toMatchObject({ status: 'answered' })
  expect(isEverRemembered(await historyOf(scene.client, handle.workflowId))).toBe(!inMode('always-replay'))
})
