"""May this change ship? Outputs of two systems for the same items, and a verdict on what was lost."""
