import { expect, it } from 'vitest'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { Skill } from '../../skills/index.js'
import { createRegistry } from '../../tools/registry.js'
import { chooseSkills } from './choose-skills.js'

const report: Skill = {
  name: 'report',
  description: 'Writes reports.',
  license: undefined,
  compatibility: undefined,
  metadata: {},
  allowedTools: undefined,
  isHidden: false,
  folder: '/report',
  instructions: 'Write a report.',
  files: [{ path: 'report/total.py', isExecutable: false, content: new Uint8Array(1) }],
  digest: 'd',
}

/** Chooses the skills of a run on a worker that knows, or does not know, the backend of runs that ask for none. */
function choose(language: string, backend: BackendChoice, preferredBackend?: BackendChoice) {
  const configuration = { skills: [report], backendsWithoutFiles: ['mine'], preferredBackend }
  const run = { workflowType: 'agent', backend, language, tools: createRegistry([]), sessionOwner: undefined }
  return chooseSkills(configuration, {}, undefined, run)
}

it.each([
  ['python', 'wasm', undefined],
  ['javascript', 'docker', undefined],
  ['javascript', 'docker', 'wasm'],
  ['javascript', 'auto', 'docker'],
  ['javascript', 'auto', undefined],
  ['python', 'auto', 'wasm'],
])('a run in %s has skills with files in sandbox %s, preferred %s', (language, backend, preferred) => {
  expect(choose(language, backend, preferred).skills).toEqual([report])
})

it.each([
  ['javascript', 'wasm', undefined, "code in javascript can't have files in the sandbox wasm"],
  ['typescript', 'wasm', undefined, "code in typescript can't have files in the sandbox wasm"],
  ['javascript', 'auto', 'wasm', "code in javascript can't have files in the sandbox wasm"],
  ['python', 'mine', undefined, "the sandbox mine can't have files"],
  ['python', 'anthropic', undefined, "the sandbox anthropic can't have files"],
])('a run in %s is refused with files in sandbox %s, preferred %s', (language, backend, preferred, reason) => {
  expect(() => choose(language, backend, preferred)).toThrow(
    expect.objectContaining({ code: 'SANDBOX_FILES_UNSUPPORTED', message: `skill report has files, and ${reason}` }),
  )
})
