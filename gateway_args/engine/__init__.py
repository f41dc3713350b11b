"""A compiled format run over text as it arrives: what is a marker, layout, a call or content, and the account of it."""
