package config

import (
	"fmt"
	"time"
)

// timezone checks agents.defaults.timezone.
func (k *checker) timezone() {
	name := k.config.Agents.Defaults.Timezone
	if _, err := time.LoadLocation(name); err != nil {
		k.wrong("agents.defaults.timezone", fmt.Sprintf("%q is not a time zone", name), "use an IANA name, for example Europe/Berlin")
	}
}
