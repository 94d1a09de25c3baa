import type { JsonObject } from '../../../src/common/json/json.js'
import type { Tool } from '../../../src/index.js'
import { tool } from '../../support/tools.js'

/** Tools of a test, and the calls that they executed. */
export class RecordedCalls {
  readonly executed: { readonly name: string; readonly input: JsonObject }[] = []

  /** @param options of `defineTool` */
  tool(name: string, options = {}): Tool {
    const run = (input: JsonObject) => {
      this.executed.push({ name, input })
      return { of: name }
    }
    return tool(name, run, options)
  }

  clear(): void {
    this.executed.length = 0
  }
}
