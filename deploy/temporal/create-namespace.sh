#!/bin/sh
# Registers the namespace, and what runs are listed by: status, agent, tenant and so on. Can be repeated. The variables
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are those of the Temporal CLI.
set -eu
until temporal operator cluster health; do sleep 1; done
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 7d

# All services of the server know a new namespace after some seconds.
until known=$(temporal operator search-attribute list 2>/dev/null); do sleep 1; done
register() {
  printf '%s\n' "$known" | grep -qw "$1" || temporal operator search-attribute create --name "$1" --type "$2"
}
register PtcAgent Keyword
register PtcStatus Keyword
register PtcTenant Keyword
register PtcModel Keyword
register PtcSession Keyword
register PtcCostUsd Double
