import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { estimateTokens } from '../../../src/common/agent/context-window.js'
import { defaultLimits as limits } from '../../../src/common/run/limits.js'
import { buildPrompt } from '../../../src/models/prompt/prompt.js'
import { findTools } from '../../../src/tools/documentation/search-tools.js'
import { createRegistry, type ToolRegistry } from '../../../src/tools/registry.js'
import { isJsonObject } from '../../../src/common/json/json.js'
import { listOpenApiTools, publishedDocument } from '../../support/openapi/openapi-tools.js'
import { gitHubDocument } from '../../support/openapi/file-of-package.js'

async function open(document: string, options: object = {}) {
  const lines: string[] = []
  const add = (line: string) => void lines.push(line)
  const log = { debug: add, info: add, warn: add, error: add }
  const { tools } = await listOpenApiTools('api', { document, baseUrl: 'https://api.example.com', ...options }, { log })
  return { tools, registry: createRegistry(tools), lines }
}

/** Each reference of a schema names a member of its own `$defs`. */
function expectClosed({ registry }: { readonly registry: ToolRegistry }): void {
  for (const { name, inputSchema } of registry.documentation()) {
    const definitions = Object.keys(isJsonObject(inputSchema['$defs']) ? inputSchema['$defs'] : {})
    for (const [, reference = ''] of JSON.stringify(inputSchema).matchAll(/"\$ref":"([^"]*)"/g))
      expect(definitions, name).toContain(reference.replace('#/$defs/', ''))
  }
}

describe.each(['3.0', '3.1'])('the examples of OpenAPI %s', (version) => {
  it('are all readable, and nothing in them is left out', async () => {
    const folder = join(dirname(publishedDocument(`@readme/oas-examples/${version}/json/petstore.json`)), '..')
    const files = (await readdir(join(folder, 'yaml'))).filter((file) => file.endsWith('.yaml'))
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) {
      const opened = await open(join(folder, 'yaml', file))
      expect(
        opened.lines.filter((line) => line.includes('left out')),
        file,
      ).toEqual([])
      expectClosed(opened)
    }
  })

  it('are the same in JSON and in YAML', async () => {
    const folder = join(dirname(publishedDocument(`@readme/oas-examples/${version}/json/petstore.json`)), '..')
    const [json, yaml] = [
      await open(join(folder, 'json/petstore.json')),
      await open(join(folder, 'yaml/petstore.yaml')),
    ]
    expect(json.registry.digest).toBe(yaml.registry.digest)
    expect(json.tools.length).toBeGreaterThan(15)
  })
})

it('the API of Figma has a tool for each of its operations', async () => {
  const opened = await open(publishedDocument('@figma/rest-api-spec/openapi/openapi.yaml'))
  expect(opened.tools.length).toBeGreaterThan(40)
  expect(opened.lines.filter((line) => /left out|not checked/.test(line))).toEqual([])
  expectClosed(opened)
})

describe('the API of GitHub, with over 1,200 operations', async () => {
  const opened = await open(await gitHubDocument())
  const documentation = opened.registry.documentation()

  it('has a tool for each operation, and says what they would cost', () => {
    expect(opened.tools.length).toBeGreaterThan(1_200)
    expect(opened.lines).toEqual([
      expect.stringMatching(
        /^OpenAPI api: 1,?\d{3} tools; about \d{3},\d{3} tokens of each request if all were documented/,
      ),
    ])
    expectClosed(opened)
  })

  it('has a prompt of less than 5,000 tokens', () => {
    const prompt = buildPrompt({ tools: documentation, limits, toolSearch: true, readMore: true, isCompacted: true })
    expect(estimateTokens(JSON.stringify(prompt).length)).toBeLessThan(5_000)
  })

  it('has operations that the search finds by words', () => {
    const found = (query: string) => findTools(documentation, query).found.map(({ name }) => name)
    expect(found('create an issue')).toContain('api__issues_create')
    expect(found('list pull request reviews')).toContain('api__pulls_list_reviews')
    expect(found('api__repos_get')[0]).toBe('api__repos_get')
  })

  it('is recorded in a run with a size far below the limit of a payload', () => {
    expect(JSON.stringify(opened.registry.toolConfigs()).length).toBeLessThan(400_000)
  })

  it('has fewer tools by tag', async () => {
    const document = await gitHubDocument()
    const { tools } = await open(document, { tags: ['emojis', 'gitignore'], allow: ['meta/root'] })
    expect(tools.map(({ name }) => name)).toEqual([
      'api__emojis_get',
      'api__gitignore_get_all_templates',
      'api__gitignore_get_template',
      'api__meta_root',
    ])
  })
})
