"""A compiled format run over text as it arrives: markers, layout, the call in flight, accounting, state as bytes."""
