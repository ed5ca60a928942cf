"""Networks and their files: the only door to torch, tokenizers and transformers."""
