"""The protocols of papers and shared tasks, by name, their averages, and control rows."""
