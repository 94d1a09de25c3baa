import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'

/** The models of the configuration, as a page of the API. */
export function listModels(names: readonly string[]): JsonObject {
  return { data: names.map(toModel), has_more: false, first_id: names.at(0) ?? null, last_id: names.at(-1) ?? null }
}

/** @throws PtcError MODEL_NOT_FOUND */
export function findModel(names: readonly string[], id: string): JsonObject {
  if (names.includes(id)) return toModel(id)
  throw new PtcError('MODEL_NOT_FOUND', 'the configuration names no such model')
}

/** The API uses this date for a model with an unknown release date. */
function toModel(id: string): JsonObject {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}
