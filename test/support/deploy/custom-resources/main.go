// Refuses files with objects that do not fit the Go types of KEDA and the Prometheus operator.
package main

import (
	"fmt"
	"os"

	keda "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"
)

func check(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var object struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(data, &object); err != nil {
		return err
	}
	var target any
	switch object.APIVersion + " " + object.Kind {
	case "keda.sh/v1alpha1 ScaledObject":
		target = &keda.ScaledObject{}
	case "monitoring.coreos.com/v1 PrometheusRule":
		target = &monitoring.PrometheusRule{}
	case "monitoring.coreos.com/v1 ServiceMonitor":
		target = &monitoring.ServiceMonitor{}
	default:
		return fmt.Errorf("no type for %s %s", object.APIVersion, object.Kind)
	}
	return yaml.UnmarshalStrict(data, target)
}

func main() {
	failed := false
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
