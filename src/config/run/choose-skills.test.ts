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

function choose(language: string, backend: BackendChoice) {
  const configuration = { skills: [report], backendsWithoutFiles: ['mine'] }
  const run = { workflowType: 'agent', backend, language, tools: createRegistry([]), sessionOwner: undefined }
  return chooseSkills(configuration, {}, undefined, run)
}

it.each([
  ['python', 'wasm'],
  ['javascript', 'docker'],
  ['javascript', 'auto'],
])('a run in %s has skills with files in sandbox %s', (language, backend) => {
  expect(choose(language, backend).skills).toEqual([report])
})

it.each([
  ['javascript', 'wasm', "code in javascript can't have files in the sandbox wasm"],
  ['typescript', 'wasm', "code in typescript can't have files in the sandbox wasm"],
  ['python', 'mine', "the sandbox mine can't have files"],
  ['python', 'anthropic', "the sandbox anthropic can't have files"],
])('a run in %s is refused with files in sandbox %s', (language, backend, reason) => {
  expect(() => choose(language, backend)).toThrow(
    expect.objectContaining({ code: 'SANDBOX_FILES_UNSUPPORTED', message: `skill report has files, and ${reason}` }),
  )
})
