/* Names by which the rewritten code of a cell reaches functions of the runner. They are no enumerable globals. */
'use strict'

module.exports = { IMPORT: '__ptc_import', META: '__ptc_meta', NAME: '__ptc_name' }
