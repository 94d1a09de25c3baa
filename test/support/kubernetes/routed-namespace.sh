#!/bin/sh
# A plugin of CNI for the cluster of tests: the plugin `bridge` with its configuration, but pods of one namespace get a
# bridge of their own with a default route to this machine. The name of the namespace replaces NAMESPACE.
set -eu
configuration=$(cat)
case ";${CNI_ARGS:-};" in
  *';K8S_POD_NAMESPACE=NAMESPACE;'*)
    configuration=$(printf '%s' "$configuration" | sed \
      -e 's/"isGateway": *false/"isGateway":true,"isDefaultGateway":true/' \
      -e 's/ptck8s0/ptck8s1/' \
      -e 's/10\.244\.77\./10.244.78./' \
      -e 's/"name": *"none"/"name":"routed"/')
    ;;
esac
printf '%s' "$configuration" | /usr/lib/cni/bridge
