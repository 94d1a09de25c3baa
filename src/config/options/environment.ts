import { z } from 'zod'
import {
  defaultEnvironmentTools,
  type EnvironmentConfig,
  type EnvironmentOption,
  environmentTools,
  sensitiveFilePolicies,
} from '../../common/run/environment.js'

const names = z.array(z.enum(environmentTools)).min(1)

/**
 * Accepts the environment of a configuration or an agent. The output is what a run records; undefined for a run without
 * one.
 */
export const environmentOption = z
  .union([
    z.boolean(),
    names,
    z.strictObject({ tools: names.exactOptional(), sensitiveFiles: z.enum(sensitiveFilePolicies).exactOptional() }),
  ] satisfies readonly z.ZodType<EnvironmentOption>[])
  .transform(toConfig)

function toConfig(option: EnvironmentOption): EnvironmentConfig | undefined {
  if (option === false) return undefined
  const { tools, sensitiveFiles = 'refuse' } = option === true ? {} : isList(option) ? { tools: option } : option
  const chosen = tools ?? defaultEnvironmentTools
  return {
    tools: environmentTools.filter((name) => chosen.includes(name)),
    ...(sensitiveFiles === 'mask' && { sensitiveFiles }),
  }
}

function isList(option: EnvironmentOption): option is Extract<EnvironmentOption, readonly unknown[]> {
  return Array.isArray(option)
}
