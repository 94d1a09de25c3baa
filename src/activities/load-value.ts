import type { Externalizable } from '../common/json/external-value.js'
import type { JsonValue } from '../common/json/json.js'
import type { Values } from '../values/values.js'
import { runActivity } from './run-activity.js'

/** Activity `value.load`: loads an external value for a workflow. */
export function loadValue(values: Values) {
  return (value: Externalizable): Promise<JsonValue> =>
    runActivity(({ signal }) => values.load(value, 'a workflow', signal))
}
