"""How closely scores and judgements agree: coefficients, the entries they rest on, and their names."""
