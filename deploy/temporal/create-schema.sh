#!/bin/sh
# Makes the two databases of Temporal, or brings them to the version of this image. SQL_HOST, SQL_USER and SQL_PASSWORD
# are variables of temporal-sql-tool.
set -eu
for database in temporal visibility; do
  name=temporal
  [ "$database" = temporal ] || name=temporal_visibility
  sql() { temporal-sql-tool --plugin postgres12 --database "$name" "$@"; }
  sql create-database
  sql setup-schema --version 0.0
  sql update-schema --schema-name "postgresql/v12/$database"
done
