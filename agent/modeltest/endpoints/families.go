package endpoints

// families are the groups of the table, in its order.
func families() []family {
	return []family{
		{"Endpoints that keep to the documents", works},
		{"Reasoning that comes back", reasoning},
	}
}
