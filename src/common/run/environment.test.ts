import { describe, expect, it } from 'vitest'
import {
  codeLanguagesOf,
  displayOfCell,
  environmentCellOf,
  environmentTools,
  hasEnvironment,
  withEnvironment,
} from './environment.js'

describe('environmentCellOf', () => {
  const environment = { tools: environmentTools }
  const cellOf = (name: string, input: object) => environmentCellOf(name, { ...input }, environment, 500)

  it('a use of a tool is a cell with the arguments and the policy of the run', () => {
    expect(cellOf('read_file', { path: 'a' })).toEqual({
      code: '{"tool":"read_file","arguments":{"path":"a"},"characters":500}',
      language: 'environment',
      tool: 'read_file',
    })
    const masking = { tools: environmentTools, sensitiveFiles: 'mask' } as const
    expect(environmentCellOf('grep', {}, masking, 1)?.code).toBe(
      '{"tool":"grep","arguments":{},"characters":1,"sensitiveFiles":"mask"}',
    )
  })

  it('members of the input do not reach the policy', () => {
    const input = { raw: true, characters: 9, tool: 'write_file' }
    expect(cellOf('read_file', input)?.code).toBe(
      JSON.stringify({ tool: 'read_file', arguments: input, characters: 500 }),
    )
  })

  it('run_code is a cell in the language that the model names', () => {
    expect(cellOf('run_code', { language: 'bash', code: 'ls' })).toEqual({
      code: 'ls',
      language: 'bash',
      tool: 'run_code',
    })
    expect(cellOf('run_code', {})).toEqual({ code: null, language: null, tool: 'run_code' })
  })

  it('a use names a session only where the tools have that argument', () => {
    const inSession = (name: string, input: object) => environmentCellOf(name, { ...input }, environment, 500, true)
    expect(inSession('read_file', { path: 'a', session: 'etl' })).toEqual({
      code: '{"tool":"read_file","arguments":{"path":"a"},"characters":500}',
      language: 'environment',
      tool: 'read_file',
      session: 'etl',
    })
    expect(inSession('run_code', { language: 'bash', code: 'ls', session: 'etl' })).toMatchObject({ session: 'etl' })
    expect(inSession('grep', {})).not.toHaveProperty('session')
    expect(cellOf('read_file', { session: 'etl' })).toMatchObject({
      code: '{"tool":"read_file","arguments":{"session":"etl"},"characters":500}',
    })
  })

  it('a tool that the run does not have is no cell', () => {
    expect(cellOf('execute_code', { code: '1' })).toBeUndefined()
    expect(environmentCellOf('grep', {}, { tools: ['read_file'] }, 1)).toBeUndefined()
  })
})

it('the environment is one more language of a run, once', () => {
  expect(withEnvironment('python,bash')).toBe('python,bash,environment')
  expect(withEnvironment('python,environment')).toBe('python,environment')
  expect([hasEnvironment('python'), hasEnvironment('python,environment')]).toEqual([false, true])
  expect(codeLanguagesOf('python,environment,bash')).toEqual(['python', 'bash'])
})

it('people see the tool and the command or the arguments', () => {
  const language = 'environment'
  const command = JSON.stringify({ tool: 'execute_command', arguments: { command: 'ls\npwd' } })
  expect(displayOfCell({ code: command, language })).toEqual({ code: 'ls\npwd', language: 'execute_command' })
  const read = JSON.stringify({ tool: 'read_file', arguments: { path: 'a' }, characters: 500 })
  expect(displayOfCell({ code: read, language })).toEqual({ code: '{"path":"a"}', language: 'read_file' })
  for (const code of [read.slice(0, 20), '1', 'null', '[]', '{"tool":1,"arguments":{}}', '{"tool":"x","arguments":[]}'])
    expect(displayOfCell({ code, language })).toEqual({ code, language })
  expect(displayOfCell({ code: read, language: 'python' })).toEqual({ code: read, language: 'python' })
  expect(displayOfCell({ code: 'x = 1' })).toEqual({ code: 'x = 1' })
})
