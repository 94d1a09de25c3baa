#!/bin/sh
# A plugin of CNI for the cluster of tests: the plugin `bridge` with its configuration, but pods of one namespace get a
# bridge of their own, with a route to this machine and the second half of the network. The name of the namespace
# replaces NAMESPACE.
set -eu
configuration=$(cat)
case ";${CNI_ARGS:-};" in
  *';K8S_POD_NAMESPACE=NAMESPACE;'*)
    configuration=$(printf '%s' "$configuration" | sed \
      -e 's/"isGateway": *false/"isGateway":true,"isDefaultGateway":true/' \
      -e 's/"bridge": *"\([^"]*\)"/"bridge":"\1r"/' \
      -e 's/\.0\/24"/.128\/25"/' \
      -e 's/"name": *"none"/"name":"routed"/')
    ;;
esac
printf '%s' "$configuration" | /usr/lib/cni/bridge
