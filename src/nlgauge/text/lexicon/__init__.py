"""Words: their forms, their related words, the article before them."""
