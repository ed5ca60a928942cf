"""Results as a person reads them: tables in every form, pages, pictures."""
