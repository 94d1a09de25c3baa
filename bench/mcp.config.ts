import { createRequire } from 'node:module'
import { defineConfig } from 'durable-ptc'
import config from './bench.config.js'

/** A published server, by standard input and output. */
export const echoServer = {
  command: process.execPath,
  args: [createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
}

/** The configuration of every benchmark, and an MCP server. */
export default defineConfig({ ...config, mcp: { demo: { ...echoServer, approval: 'never', effect: 'read' } } })
