"""What papers and shared tasks report: protocols by name, their averages, and control rows."""
